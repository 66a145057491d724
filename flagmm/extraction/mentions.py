"""What a reply that states no answer lets one conclude, from the firmest kind of evidence to the weakest.

- verdict: "B is correct", B选项正确
- leading label: "C. I am sure that …", "B Cat"
- mentioned label: "(B)", "option B", "it is B"; without doubt or denial around it, and without a rival
- mentioned text: the only option whose text occurs and is not denied
"""

from __future__ import annotations

import re
from itertools import islice

from flagmm.extraction.item import UNDECIDED, Found, Item
from flagmm.extraction.labels import Reading, read_labels
from flagmm.extraction.yes_no import extract_yes_no
from flagmm.lazy_regex import KeyedPattern, finditer_at, has_any, lazy_compile

_ITEM = lazy_compile(r"(?:[\n,;、&]|\band\b|(?<=\s))\s?[(\[]?([A-Za-z0-9]{1,3})[).:\]]\s?(?=[^\s).:\]])")
_LIST_SIGN = lazy_compile("[,;、&]|and")
_ITEM_LINE = lazy_compile(r"\s*[-•]?\s*[(\[]?([A-Za-z0-9]{1,3})[).:、\]]\s*\S[^\n]*(?:\n|\Z)")

_VERDICT = lazy_compile(
    r"(?<![a-z])(?:is|are|must be|has to be)\s(?:\w+ly\s|indeed\s|both\s|all\s|thus\s|also\s|still\s)?"
    r"(?:(?:the|my|a)\s)?(?:(?:most|only|single|final|best|right|correct)\s)?"
    r"(?:correct|right(?=\s{0,3}(?:[.,;:!\n]|\Z|because|since|as))|best|answers?|options?|choices?|accurate|suitable|appropriate"
    r"|decision|match)(?![a-z])"
)
_VERDICT_STARTS = ("is", "are", "must be", "has to be")
_VERDICT_KEYS = (
    *("correct", "right", "best", "answer", "option", "choice", "accurate", "suitable", "appropriate"),
    *("decision", "match"),
)
_TOKEN = r"""(?:(?:options?|choices?|answers?|statements?|both|only)\s)*[("'\[]?[A-Za-z0-9]{1,3}[)"'\]]?"""
_JUDGED = lazy_compile(
    rf"(?<![A-Za-z0-9_'°∠])({_TOKEN}(?:\s?(?:,|and|&|/|or)\s?(?:(?:and|or)\s)?{_TOKEN})*)\s$", re.IGNORECASE
)
# "Person B is right" speaks of a person.
_BEFORE_JUDGED = lazy_compile(
    r"(?:^|[^a-z0-9\s]\s{0,3}|\n|\b(?:that|so|thus|therefore|hence|and|but|while|because|since|think|believe|say|then|is|as"
    r"|means|only|both|conclude)\s)$"
)
_JUDGED_WORD = lazy_compile(r"[A-Za-z0-9]+")
_NOT_A_LABEL = frozenset(
    (
        "option",
        "options",
        "choice",
        "choices",
        "answer",
        "answers",
        "statement",
        "statements",
        "both",
        "only",
        "and",
        "or",
    )
)
_VERDICT_OFF = lazy_compile(r"\b(?:neither|nor|not|whether|if|unless|why|than|n't)\b[^.!?;\n]{0,40}$")
_CJK_VERDICT = lazy_compile(
    r"(?<![A-Za-z0-9])([A-Z](?: ?[、,和与及] ?[A-Z]|[A-Z])*)\s?(?:选项|项)?(?:的?说法)?\s?(?:才?是|为|都是|都|均)?最?"
    r"(?:正确|对的|符合|合适|贴切|恰当|对(?=[。,.，;；\s]|\Z))"
)

_ONLY_DENIED = lazy_compile(r"(?:It is |It's |Definitely )?[Nn]ot \(?([A-Z])\)?[.!]?")

_MENTION = lazy_compile(
    r"(?:(?<![A-Za-z])(?:[Oo]ption|OPTION|[Cc]hoice|CHOICE|选项)[\s_:]{0,3}[(\"'\[]?(?P<named>[A-Za-z0-9]{1,3})"
    r"|[(\[](?P<bracketed>[A-Z]{1,2})(?=[)\]])"
    r"|(?:(?<![A-Za-z])(?:[Ii]t(?:'s|\sis|\smust\sbe|\sshould\sbe)|[Ii]\s(?:think|believe|guess)|[Ss]o|[Tt]hus|[Tt]herefore|[Hh]ence)[,:]?\s"
    r"|(?<![A-Za-z])[Tt]he\s(?:best|right|correct|true|most\s\w+)(?:\sone)?\s(?:is|must\sbe)[:]?\s|所以|因此|故|是)"
    r"(?P<concluded>[A-Z])(?=\s?(?:[\n.,;!。，；]|\Z)))(?![A-Za-z0-9À-ɏ])(?!['’-][A-Za-z])"
)
# Without any of these there is no mention; the search for mentions takes longer.
_MENTION_KEYS = ("ption", "PTION", "hoice", "HOICE", "选项", "(", "[")
_LONE_CAPITAL = lazy_compile(r"[A-Z](?<![A-Za-z].)(?=\s?(?:[\n.,;!。，；]|\Z))")
_REASON = lazy_compile(r"\s+(?:[-–—]\s|but\snot\b|because\b|since\b|as\b|due\b)")
_CLAUSE_END = lazy_compile(r"[.;!?\n。；！？]|,\s|，")
_DENIAL = lazy_compile(
    r"\b(?:not|never|no|neither|nor|wrong|incorrect|false|except|exclud\w{1,4}|eliminat\w{1,4}|ruled?s? out|ruling out"
    r"|cannot|without|instead of|rather than|over|unlike)\b|n't|[不非错没除无]",
    re.IGNORECASE,
)
_DENIES_NEXT = lazy_compile(
    r"(?:\b(?:and|but)\s)?(?:\bnot|rather than|instead of|over|而不是|不是)\s?(?:the\s)?\Z", re.IGNORECASE
)
_DOUBT = lazy_compile(
    r"\b(?:might|may|could|maybe|perhaps|possibly|first|if|whether|consider\w*|compar\w*|looking|looked|either|seem\w*"
    r"|initially|examin\w*|analy\w*|check\w*|let'?s|between|what|which (?:of|one|option)|why|tempting)\b"
    r"|\?|可能|也许|或许|如果|先看|假如",
    re.IGNORECASE,
)
_CONTRAST = lazy_compile(
    r"\b(?:but|however|although|though|yet)\b|\b(?:it|this|that|which)\s(?:is|does|do|did|was)\s?(?:not\b|n't)|但|然而|不过",
    re.IGNORECASE,
)
_HEAD_MARK = lazy_compile(r"[A-Z][).:\]]\s?\w")
_HEADED = lazy_compile(r"(?<![A-Za-z0-9])[(\[]?([A-Z]{1,2})[).:\]]\s?(?=\w)[^.,;\n([]{0,200}")
_RULED_OUT = lazy_compile(
    r"\W*(?:(?:this|it|that)\s)?(?:(?:is|does|was|are)\s)?(?:no(?!\s\w)|not\b|isn|doesn|incorrect\b|wrong\b|false\b|不|错)",
    re.IGNORECASE,
)
_NO_AFTER_OWN = lazy_compile(
    r"\W*(?:(?:this|it|that|which) )?(?:(?:is|does|was|are) )?(?:no|not|isn|doesn|incorrect|wrong|false)\b|\s?[不错]"
)
_REFUSAL = KeyedPattern(
    r"\bsorry\b|\b(?:can(?:not|'t| not)|unable to|don't|do not|couldn't|could not)\s(?:\w+ly\s)?"
    r"(?:see|view|determine|answer|help|assist|identify|tell|know|access|process"
    r"|be (?:determined|identified|answered|seen))|无法|抱歉|对不起|不知道|不确定|不能确定",
    [
        *("sorry", "cannot", "can't", "can not", "unable to", "don't", "do not", "couldn't", "could not"),
        *("无法", "抱歉", "对不起", "不知道", "不确定", "不能确定"),
    ],
)
_HEAD = lazy_compile(r"[.,;:!\n。；！]")
_YES_NO = {"yes": "yes", "no": "no", "是": "yes", "否": "no", "对": "yes", "错": "no", "正确": "yes", "错误": "no"}
_YES_NO |= {"true": "yes", "false": "no", "correct": "yes", "incorrect": "no", "有": "yes", "没有": "no"}


def listed_labels(plain: str, position: int, item: Item, *, lines: bool) -> list[str]:
    """Return the labels of items such as ", C. a cat" after `position`, in its line or, with `lines`, below it."""
    end = plain.find("\n", position)
    end = len(plain) if end < 0 else end
    found = []
    if _LIST_SIGN.search(plain, position, end):
        found = [item.known.exact.get(at[1]) for at in _ITEM.finditer(plain, position, end) if at[0][0] in ",;、&a"]
    end += 1
    while lines and (at := _ITEM_LINE.match(plain, end)):
        found.append(item.known.exact.get(at[1]))
        end = at.end()
    return [label for label in found if label is not None]


def begins_with_own(reading: Reading, rest: str, item: Item) -> bool:
    """Say whether its own option's text follows a label; after "A", which may be an article, nothing else may."""
    if not item.options or len(reading.labels) != 1:
        return False
    if reading.is_word:
        return item.texts.equal(rest) == reading.labels[0]
    return item.texts.begins_with(reading.labels[0], rest)


def is_other_option(rest: str, labels: tuple[str, ...], item: Item) -> bool:
    """Say whether the words after a single label are the text of another option."""
    if not rest or not item.options or len(labels) != 1:
        return False
    owner = item.texts.equal(rest)
    return owner is not None and owner != labels[0]


def text_in(line: str, item: Item) -> Found | None:
    """Read an option's text out of the line after a statement."""
    head, _, tail = _split_head(line)
    owner = item.texts.equal(head)
    if owner is not None:
        follower = item.texts.equal(_split_head(tail)[0])
        return item.found({owner, follower or owner}, "stated_text")
    named = {mention.label for mention in item.texts.mentions(line) if not mention.denied}
    return item.found(named, "stated_text") if named else None


def _split_head(line: str) -> tuple[str, str, str]:
    mark = _HEAD.search(line)
    return (line[: mark.start()], mark[0], line[mark.end() :].strip()) if mark else (line, "", "")


def verdict(plain: str, low: str, item: Item) -> Found | None:
    """Read "B is correct" and its like; verdicts on several labels decide nothing in single mode."""
    found: list[str] = []
    for at in finditer_at(_VERDICT, low, _VERDICT_STARTS) if has_any(low, _VERDICT_KEYS) else ():
        window = max(0, at.start() - 60)
        judged = _JUDGED.search(plain, window, at.start())
        if (
            judged
            and _BEFORE_JUDGED.search(low, max(0, judged.start() - 12), judged.start())
            and not _VERDICT_OFF.search(low, window, judged.start())
        ):
            found += _judged_labels(judged[1], item)
    if not plain.isascii():
        for at in _CJK_VERDICT.finditer(plain):
            letters = [letter for letter in at[1] if letter.isalpha()]
            if (
                all(letter in item.known.exact for letter in letters)
                and "除" not in plain[max(0, at.start() - 3) : at.start()]
            ):
                found += [item.known.exact[letter] for letter in letters]
    return item.found(found, "verdict") if found else None


def denied_of_two(plain: str, item: Item) -> Found | None:
    """Read a reply that is nothing but "not B", where there are two options."""
    denied = _ONLY_DENIED.fullmatch(plain)
    label = item.known.exact.get(denied[1]) if denied and len(item.known.rank) == 2 else None
    return item.found(set(item.known.rank) - {label}, "other_of_two") if label else None


def _judged_labels(judged: str, item: Item) -> list[str]:
    named = re.search("option|choice|answer|[(\\[\"']", judged, re.IGNORECASE) is not None
    labels = []
    for word in _JUDGED_WORD.findall(judged):
        if word.lower() in _NOT_A_LABEL:
            continue
        label = item.known.exact.get(word) or (item.known.folded.get(word.lower()) if named else None)
        if label is None:
            return []
        labels.append(label)
    return labels


def leading_label(plain: str, low: str, item: Item) -> Found | None:
    """Read the label that the reply begins with, unless it is ruled out there or other labels have a say, too."""
    reading = read_labels(plain, 0, item.known, multi=item.multi)
    if reading is None or reading.verdict != "labels" or (plain[reading.start].islower() and not reading.bracketed):
        return None
    line_end = plain.find("\n", reading.end)
    rest = plain[reading.end : line_end if line_end >= 0 else len(plain)].lstrip(" .):-]\"'")
    own = begins_with_own(reading, rest, item)
    if not own and not _leads(plain, reading.start, reading.end, bracketed=reading.bracketed):
        return None
    if rest.strip(" .()") in item.known.exact or is_other_option(rest, reading.labels, item):
        return UNDECIDED
    if _RULED_OUT.match(rest) or _NO_AFTER_OWN.match(item.texts.after_own(reading.labels[0], rest)):
        return None
    heads = [item.known.exact.get(at[1]) for at in _ITEM.finditer(plain, reading.end)]
    labels = item.known.sorted([*reading.labels, *(label for label in heads if label is not None)])
    if item.is_instruction(labels, alternatives=True):
        return UNDECIDED
    rivals = _label_stances(plain, low, item).get("meant", set())
    return item.found({*labels, *rivals}, "leading_label")


def _leads(plain: str, start: int, end: int, *, bracketed: bool) -> bool:
    """Say whether the marks after the first label set it apart from the sentence that follows."""
    after = plain[end:].lstrip(")]}\"'”’>")
    if bracketed:
        return re.match(r"\s+[a-z]", after) is None or _REASON.match(after) is not None
    if after[:1] in ".:\n、" or plain[end : end + 1] in ")]":
        return True
    if plain[start:end] == "I":
        return False
    return after[:1] in ",;!" or _REASON.match(after) is not None


def mentioned_label(plain: str, low: str, item: Item) -> Found | None:
    """Read a label that the reply names in passing, if it names no other without denying it."""
    stances = _label_stances(plain, low, item)
    meant = stances.get("meant")
    if not meant or "doubted" in stances or meant & stances.get("denied", set()):
        return None
    return item.found(meant, "mentioned_label")


def _label_stances(plain: str, low: str, item: Item) -> dict[str, set[str]]:
    """Return which labels the reply names, by what the words around them do: "meant", "denied" or "doubted"."""
    mentions = list(islice(_MENTION.finditer(plain), 41)) if _may_mention(plain) else []
    if mentions and _refuses(low, item):
        mentions = []
    stances: dict[str, set[str]] = {}
    last_end = 0
    for number, at in enumerate(mentions[:40]):
        label = _mention_label(at, item)
        if label is None:
            continue
        following = mentions[number + 1].start() if number + 1 < len(mentions) else len(plain)
        stance, clause_end = _stance(plain, at, following)
        stances.setdefault(stance, set()).add(label)
        last_end = clause_end if stance == "meant" else last_end
    if len(mentions) > 40 or ("meant" in stances and _CONTRAST.search(plain, last_end)):
        stances.setdefault("doubted", set()).update(stances.get("meant", ()))
    return stances


def _may_mention(plain: str) -> bool:
    return has_any(plain, _MENTION_KEYS) or _LONE_CAPITAL.search(plain) is not None


def _mention_label(at: re.Match[str], item: Item) -> str | None:
    word = at["named"] or at["bracketed"] or at["concluded"]
    return item.known.exact.get(word) or (
        item.known.folded.get(word.lower()) if at["named"] and len(word) > 1 else None
    )


def _stance(plain: str, at: re.Match[str], following: int) -> tuple[str, int]:
    """Return what the clause around a mention does with it, and where that clause ends."""
    window = max(0, at.start() - 200)
    starts = [mark.end() for mark in _CLAUSE_END.finditer(plain, window, at.start())]
    start = starts[-1] if starts else window
    mark = _CLAUSE_END.search(plain, at.end(), at.end() + 400)
    end = mark.end() if mark else min(len(plain), at.end() + 400)
    if _DOUBT.search(plain, start, end):
        return "doubted", end
    after = _DENIES_NEXT.sub("", plain[at.end() : min(end, following)])
    if _DENIAL.search(plain, start, at.start()) or _DENIAL.search(after):
        return "denied", end
    return "meant", end


def _refuses(low: str, item: Item) -> bool:
    """Say whether the reply says that it cannot answer, unless an option says so, too."""
    if _REFUSAL.search(low) is None:
        return False
    return not any(_REFUSAL.search(text.lower()) for text in item.options)


def mentioned_text(plain: str, low: str, item: Item) -> Found | None:
    """Read the only option text that the reply names; yes and no among the options are read as such."""
    if not item.options or _refuses(low, item):
        return None
    meanings = {_YES_NO.get(text): label for text, label in item.texts.folded.items()}
    if meanings.keys() == {"yes", "no"} and len(item.options) == 2:
        label = meanings.get(extract_yes_no(plain).value)
        return Found((label,), "option_text") if label else None
    mentions = item.texts.mentions(_without_headed_items(plain, item))
    named = {mention.label for mention in mentions if not mention.denied}
    head = item.texts.equal(_split_head(plain)[0])
    if head is not None:
        named.add(head)
    if not named or any(mention.label in named for mention in mentions if mention.denied):
        return None
    if head is None and item.texts.is_name_part(plain, mentions[0]):
        return None
    rivals = _label_stances(plain, low, item).get("meant", set())
    return item.found({*named, *rivals}, "mentioned_text")


def _without_headed_items(plain: str, item: Item) -> str:
    """Leave out items such as "C. a green bus: too large", which repeat the options in order to discuss them."""
    if _HEAD_MARK.search(plain) is None:
        return plain
    return _HEADED.sub(lambda at: " " if at[1] in item.known.exact else at[0], plain)
