"""The tokens of chat templates that a server leaves around a reply: `2011<|im_end|>`, `</s>`, `[/INST] Paris`.

They are no part of what the model says, so they go where a reply is read, for every metric alike. Only tokens at the
ends are taken off, and whatever follows the start of somebody else's turn: within a sentence they may be the subject.
The boxes of `<|begin_of_box|>` and the tags of thinking mean something and stay.
"""

from __future__ import annotations

import re

_BAR = "[|｜]"
_ENDS = "|".join(
    [
        # <|im_end|>, <|endoftext|>, <|eot_id|>, <|end_of_text|>, <｜end▁of▁sentence｜>, <|END_OF_TURN_TOKEN|>, …
        rf"<{_BAR}(?:im_end|end|endoftext|endofprompt|endofassistant|eot|eot_id|eom|eom_id|eos|eod|return|call|stop|pad"
        rf"|end_of_role|end[_▁ ]of[_▁ ](?:text|sentence|turn|message|utterance)(?:_token)?){_BAR}>",
        # </s>, <eos>, <end_of_turn>, <pad>, <eoa>, [EOS], [/INST], [UNUSED_TOKEN_145]
        r"</s>|<(?:eos|eod|eoa|eop|pad|end_of_turn|end_of_utterance)>|\[(?:/INST|EOS|UNUSED_TOKEN_[0-9]{1,4})\]",
    ]
)
_ROLES = r"(?:\s{0,2}(?:assistant|model|bot|gpt)(?![^\W_]))?"
_STARTS = "|".join(
    [
        rf"<{_BAR}(?:im_start|start|begin_of_text|beginoftext|startoftext|bos|im_sep|begin[_▁ ]of[_▁ ]sentence"
        rf"|start_header_id|header_start|start_of_role){_BAR}>{_ROLES}",
        rf"<{_BAR}(?:end_header_id|header_end|end_of_role|message|assistant|start_of_turn_token|chatbot_token){_BAR}>",
        rf"<{_BAR}channel{_BAR}>(?:final|analysis|commentary)?",
        rf"<(?:s|bos)>|<start_of_turn>{_ROLES}|\[/INST\]",
    ]
)
_LEADING = re.compile(rf"(?:\s*(?:{_STARTS}))+\s*", re.IGNORECASE)
_TRAILING = re.compile(rf"(?:{_ENDS}|<{_BAR}(?:user|observation|im_start|start|system){_BAR}>)\Z", re.IGNORECASE)
_LONGEST = 40
"""Characters that a token may have."""
_NEXT_TURN = re.compile(
    rf"(?:{_ENDS})\s*(?:<{_BAR}(?:im_start|start|start_header_id|header_start|start_of_role){_BAR}>|<start_of_turn>"
    rf"|<{_BAR}(?:user|system|observation){_BAR}>|\[INST\])",
    re.IGNORECASE,
)
_FINAL_CHANNEL = re.compile(rf"<{_BAR}channel{_BAR}>final<{_BAR}message{_BAR}>", re.IGNORECASE)


def strip_chat_tokens(text: str) -> str:
    """Return a reply without the chat template's tokens around it; a text without any comes back as it is.

    Of a reply with channels only the last one that is final counts. A text of nothing but tokens gives "".

    >>> strip_chat_tokens("<|im_start|>assistant\\n2011<|im_end|>"), strip_chat_tokens("<|im_end|> ends a turn")
    ('2011', '<|im_end|> ends a turn')
    """
    if "<" not in text and "[" not in text:
        return text
    start, end = 0, len(text)
    for channel in _FINAL_CHANNEL.finditer(text):
        start = channel.end()
    leading = _LEADING.match(text, start)
    start = leading.end() if leading else start
    following = _NEXT_TURN.search(text, start)
    kept = following.start() if following and following.start() > start else end
    while last := _TRAILING.search(text, max(start, _end_of_text(text, kept) - _LONGEST), _end_of_text(text, kept)):
        kept = last.start()
    if (start, kept) == (0, end):
        return text
    return text[start : _end_of_text(text, kept)].strip()


def is_blank(text: str) -> bool:
    """Whether a reply says nothing: it has no text, or nothing but blanks and tokens of a chat template.

    >>> is_blank(" <|im_end|>"), is_blank("0<|im_end|>")
    (True, False)
    """
    return not strip_chat_tokens(text).strip()


def _end_of_text(text: str, end: int) -> int:
    while end and text[end - 1].isspace():
        end -= 1
    return end
