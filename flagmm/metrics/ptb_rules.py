"""What counts as one token in the Penn Treebank tokenizer that COCO captions are scored with.

Reference: the outcomes of Stanford CoreNLP 3.4.1 (`PTBTokenizer -preserveLines -lowerCase`), observed by running it;
the abbreviations are those it knows. At each place the rule that matches the most wins, of equals the earlier rule.
What a rule looks at behind the token counts as matched. Group 1 is the token, where it is not the whole match.
"""

from __future__ import annotations

import re

_NUMERALS = (  # Python's \w has these, but they are no letters
    "²³¹¼-¾⁰⁴-⁹₀-₉⅐-↉①-⒛⓪-⓿❶-➓〇〡-〩㆒-㆕㈠-㈩㉈-㉏㉑-㉟㊀-㊉㊱-㊿"
)
_MARKS = (  # accents and vowel signs that are part of a word
    "\u00ad\u02c2-\u02c5\u02d2-\u02df\u02e5-\u02eb\u02ed\u02ef-\u036f\u0375\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2"
    "\u05c4\u05c5\u05c7\u0615-\u061a\u064b-\u065e\u0670\u06d6-\u06e4\u06e7-\u06ed\u0711\u0730-\u074a\u07a6-\u07b0"
    "\u07eb-\u07f3\u0900-\u0903\u093c\u093e-\u094e\u0951-\u0955\u0962\u0963\u0981-\u0983\u09bc\u09be-\u09c4\u09c7"
    "\u09c8\u09cb-\u09cd\u09d7\u09e2\u09e3\u0a01-\u0a03\u0a3c\u0a3e-\u0a4f\u0a81-\u0a83\u0abc\u0abe-\u0acf\u0b82"
    "\u0bbe-\u0bc2\u0bc6-\u0bc8\u0bca-\u0bcd\u0c01-\u0c03\u0c3e-\u0c56\u0d3e-\u0d44\u0d46-\u0d48\u0e31\u0e34-\u0e3a"
    "\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd"
)
_LETTER = rf"(?:[^\W\d_{_NUMERALS}]|[{_MARKS}]|&[aeiouAEIOU](?:acute|grave|uml);)"
_LETTER_OR_DIGIT = rf"(?:[^\W_{_NUMERALS}]|[{_MARKS}]|&[aeiouAEIOU](?:acute|grave|uml);)"
_ALPHA = rf"[^\W\d_{_NUMERALS}]"
_ALNUM = rf"[^\W_{_NUMERALS}]"

_APOSTROPHE = "(?:['\u0092’]|&apos;)"
_ANY_APOSTROPHE = "(?:['\u0092’`\u0091‘‛]|&apos;)"
_WORD = rf"{_LETTER}{_LETTER_OR_DIGIT}*(?:[.!?]{_LETTER}{_LETTER_OR_DIGIT}*)*"
_CLITIC_ENDING = "(?i:[msd]|re|ve|ll)"
_CLITIC = rf"{_APOSTROPHE}{_CLITIC_ENDING}"
_NOT = rf"(?i:n){_ANY_APOSTROPHE}(?i:t)"
_NUMBER = r"(?:\d*(?:[.,:\u00ad\u066b\u066c]\d+)+|\d+)"
_SPACE = "[ \t\u00a0\u2000-\u200a\u202f\u3000]"

_MONTHS_AND_DAYS = "Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|Mon|Tues?|Wed|Thu(?:rs)?|Fri"
_STATES = (
    "Ala|Ariz|Calif|Colo|Conn|Ct|Dak|Fla|Ga|Ind|Kans?|Ky|Md|Mich|Minn|Mo|Mont|Neb|Nev|Okla|Penn|Tenn|Va|Vt|Wisc?|Wyo"
)
_STATES_LIKE_WORDS = "A(?i:z|rk)|D(?i:el)|I(?i:ll)|L(?i:a)|M(?i:ass|iss)|O(?i:re)|P(?i:a)|T(?i:ex)|W(?i:ash)"
_COMPANIES = "Inc|Cos?|Corp|Pp?t[ye]s?|Ltd|Plc|Rt|Bancorp|Bhd|Assn|Univ|Intl|Sys|Blvd|Rd"
_AFTER_NAMES = "Jr|Sr|Bros|(?:Ed|Ph)\\.D|Esq|tel|est|ext|sq|etc|al|seq|Bldg"
_TITLES = (
    "Mr|Mrs|Ms|Drs?|Profs?|Sens?|Reps?|Attys?|Lt|Col|Gen|Messrs|Govs?|Adm|Rev|Maj|Sgt|Cpl|Pvt|Capt|Ste?|Pres|Lieut"
    "|Hon|Brig|Co?mdr|Pfc|Spc|Supts?|Det|Mt|Ft|vs|Alex|Wm|Jos|a\\.k\\.a|cf|TREAS|Ph|Invt|Elec|Natl|Dept|Ave|Cie"
)
_ACRONYM = r"(?:[A-Za-z](?:\.[A-Za-z])*|(?:Canada|Sino|Korean|EU|Japan|non)-U\.S|U\.S\.-(?:U\.K|U\.S\.S\.R))"
_MAY_END = rf"(?:(?i:{_MONTHS_AND_DAYS}|{_STATES}|{_COMPANIES}|{_AFTER_NAMES})|{_STATES_LIKE_WORDS})"
_NEVER_ENDS = rf"(?:(?i:{_TITLES})|(?i:m)[ft]g)"
_BEFORE_NUMBERS = "(?i:ca|figs?|prop|nos?|art|bldg|pp|op)"
_SENTENCE_STARTS = (  # after these an initial is the end of a sentence; the first letter is a capital
    "A(?i:bout|ccording|dditionally|fter|n|s|t)?|B(?i:ut)|E(?i:arlier)|H(?i:e|er|ere|owever)|I(?i:f|n|t)"
    "|L(?i:ast)|M(?i:any|ore|r\\.|s\\.)|N(?i:ow)|O(?i:nce|ne|ther|ur)|S(?i:he|ince|o|ome|uch)"
    "|T(?i:hat|he|heir|hen|here|hese|hey|his)|W(?i:e|hen|hile|hat)|Y(?i:et|ou)"
)
_KEEP_APOSTROPHE = "cont'd\\.?|nor'easter|c'mon|e'er|s'mores|ev'ry|li'l|nat'l|diff'rent|cap'n|c'est"

_ASCII = "[A-Za-z0-9]"
_SLASHED = rf"{_ASCII}+(?:-[A-Za-z]+){{0,2}}"
_HYPHEN = "[-_\u058a\u2010\u2011]"
_COMPOUND_PART = rf"(?:[dDoOlL]{_ANY_APOSTROPHE}{_ALNUM})?{_ALNUM}+"
_COMPOUND = rf"{_COMPOUND_PART}(?:{_HYPHEN}{_COMPOUND_PART})*"
_JOINED_CAPITALS = "[A-Z]+(?:(?:[+&]|&amp;)[A-Z]+)+"
_HYPHENATED = rf"{_ASCII}[A-Za-z0-9.,\u00ad]{{0,200}}(?:-(?:[A-Za-z](?:\.[A-Za-z])+\.|(?:{_ASCII}|\u00ad)+))+"

_NAME = "[A-Za-z][A-Za-z0-9_:.-]*"
_ATTRIBUTE = rf"{_NAME}(?: *= *(?:'[^'\r\n]*'|\"[^\"\r\n]*\"))?"
_URL_BREAKS = r" \t\n\f\r\"<>|()"
_PATH = rf"[^{_URL_BREAKS}]+[^{_URL_BREAKS}.!?{{}},-]"
_HOST_PART = rf"[^{_URL_BREAKS}.!?{{}},/]+"
_PLAIN_HOST_PART = "[#%&*+~a-z\u0080-\uffff]+"
_IN_EMAIL = rf"[^{_URL_BREAKS}\u00a0]"

_PHONE_GAP = "[- \u00a0]"
_FILE_TYPES = (
    "bat|bmp|c|class|cgi|cpp|dll|docx?|exe|gif|gz|h|html?|jar|java|jpe?g|mov|mp3|pdf|php|pl|png|ppt|ps|py|sql|tar|txt"
    "|wav|x|xml|zip"
)
_EYE = r"[\^x=~<>']"

_TWO_IN_ONE = (  # the rest of the second word is read next
    "(?i:(can)not)",
    "(?i:(gon|wan)na)",
    "(?i:(got)ta)",
    "(?i:(lem|gim)me)",
    "(?i:('t)(?:is|was))",
)
_MARKUP = (
    rf"<(?:[!?][A-Za-z-][^>\r\n]*|{_NAME}(?: +{_ATTRIBUTE})* */?|/{_NAME}) *>",
    "&(?:amp|mdash|ndash|MD|HT|TL|UR|LR|QC|QL|QR|odq|cdq|#[0-9]+);",
)
_WORDS = (
    rf"({_WORD}){_CLITIC}",
    rf"((?:{_ALPHA}|\u00ad)*[A-MO-Za-mo-z]){_NOT}",
    _WORD,
)
_WORDS_WITH_APOSTROPHE = (
    rf"{_APOSTROPHE}(?i:n){_APOSTROPHE}",
    rf"(?i:[ldj]|ol|dunkin|somethin){_APOSTROPHE}",
    rf"{_APOSTROPHE}(?:(?i:em|till?|cause)|[2-9]0[sS])",
    rf"(?:n|(?![IY])[A-Z]){_ANY_APOSTROPHE}{_ALPHA}{{2,}}",
    rf"{_ALPHA}+[aeiouyAEIOUY]{_ANY_APOSTROPHE}[aeiouA-Z]{_ALPHA}*",
    f"(?i:{_KEEP_APOSTROPHE})".replace("'", _ANY_APOSTROPHE),
    rf"((?i:y){_APOSTROPHE}){_ALPHA}",
)
_ADDRESSES = (
    rf"(?i:https?)://{_PATH}",
    rf"(?i:www)\.(?:{_HOST_PART}\.)+[a-zA-Z]{{2,4}}(?:/{_PATH})?",
    rf"(?:{_PLAIN_HOST_PART}\.)+(?i:com|net|org|edu)(?:/{_PATH})?",
    rf"(?:&lt;|<)?{_ASCII}{_IN_EMAIL}{{0,200}}@(?:(?!\.){_IN_EMAIL})+(?:\.(?:(?!\.){_IN_EMAIL})+)*(?:&gt;|>)?",
    rf"@[A-Za-z_][A-Za-z0-9_]*|#{_ALPHA}+",
)
_CLITICS = (
    rf"({_CLITIC})[^A-Za-z]",
    rf"(?:[\u0092’]|&apos;)(?:{_CLITIC_ENDING}|[nN])",
    rf"({_NOT})[^A-Za-z]",
    rf"({_APOSTROPHE}(?:[0-9][0-9]|[nN]))(?:{_SPACE}|\n)",
)
_NUMBERS = (
    r"\d{1,2}[-/]\d{1,2}[-/]\d{2,4}",
    rf"[-+]?{_NUMBER}",
    "[⁺⁻₊₋]?(?:[⁰¹²³⁴-⁹]+|[₀-₉]+)",
    r"(?:\d{1,4}[- \u00a0])?\d{1,4}(?:\\?/|⁄)\d{1,4}",
    rf"\([0-9]{{2,3}}\)[ \u00a0]?[0-9]{{3,4}}{_PHONE_GAP}?[0-9]{{3,5}}",
    rf"(?:\+{{0,2}}[0-9]{{2,4}}{_PHONE_GAP})?[0-9]{{2,4}}{_PHONE_GAP}[0-9]{{3,4}}{_PHONE_GAP}?[0-9]{{3,5}}",
    rf"\+{{1,2}}[0-9]{{2,4}}{_PHONE_GAP}[0-9]{{3,4}}{_PHONE_GAP}?[0-9]{{3,5}}",
    r"(?:\+{0,2}[0-9]{2,4}\.)?[0-9]{2,4}\.[0-9]{3,4}\.[0-9]{3,5}",
)
_ABBREVIATIONS = (
    rf"([A-Za-z])\.{_SPACE}+(?:{_SENTENCE_STARTS})(?:{_SPACE}|\n)",
    rf"({_BEFORE_NUMBERS}\.){_SPACE}?\d",
    rf"({_MAY_END}\.)(?:[\s\S]{{2}})?",
    rf"(?:{_NEVER_ENDS}|{_ACRONYM})\.",
    # before another mark any word keeps its period
    rf"({_WORD}\.)[,;:、]",
    rf"({_COMPOUND}\.)[,;:、]",
    rf"({_JOINED_CAPITALS}\.)[,;:、]",
    rf"({_HYPHENATED}\.)[,;:、]",
    r"C\.D\.s",
)
_SIGNS = (
    r"[A-Z]*\$|#",
    "&(?:quot|apos);|&lt;|&gt;|<<|>>",
    r"([<>]?[:;=][-o*']?[()DPdpO\\{@|\[\]])[^A-Za-z0-9]",
    rf"(?:-|{_EYE})_(?:-|{_EYE})|\((?:-|{_EYE})[_.]?(?:-|{_EYE})\)|\({_EYE}-(?:{_EYE}|`)\)",
    "-(?i:rrb|lrb|rcb|lcb|rsb|lsb)-",
    r"\.{3,}|\.[ \u00a0](?:\.[ \u00a0])+\.",
    r"-+|@+|#+|_+|\*+|[?!]+",
    "''|[`‘-‟\u0082\u0084\u0091-\u0094‹›«»]{1,2}",
)
_COMPOUNDS = (
    rf"{_SLASHED}(?:\\?/{_SLASHED}){{1,2}}",
    _COMPOUND,
    _HYPHENATED,
    _JOINED_CAPITALS,
    rf"({_ALNUM}+(?:\.{_ALNUM}+)*\.(?i:{_FILE_TYPES}))(?:{_SPACE}|[.?!,\n])",
    r"(?i:c)\+\+|(?i:[cf])#",
    "(?i:pro|anti)-",
    "S(?:&|&amp;)(?:P-500|Ls)",
)

RULES: tuple[re.Pattern[str], ...] = tuple(
    re.compile(rule)
    for rule in (
        *_TWO_IN_ONE,
        *_MARKUP,
        *_WORDS,
        *_WORDS_WITH_APOSTROPHE,
        *_ADDRESSES,
        *_CLITICS,
        *_NUMBERS,
        *_ABBREVIATIONS,
        *_SIGNS,
        *_COMPOUNDS,
    )
)
CLITIC = re.compile(rf"{_CLITIC}|{_NOT}")

# A character that no rule matches is a token of its own, or becomes another one, or is left out.
SINGLE = re.compile(
    "[$-'*-,:->\\\\^`|~¡¥-©¬®-´¶-¹¿×÷\u037e\u0387\u0589\u05be\u05c0\u05c3\u05c6\u05f3\u05f4\u0600-\u0603\u0606-\u060c"
    "\u0614\u061b\u061e\u061f\u066a\u066d\u06d4\u0700-\u070d\u07f6-\u07f8\u0964\u0965\u0e3f\u0e4f\u1fbd\u2016\u2017"
    "\u201a\u201e-\u2023\u2030-\u2038\u203b\u203e-\u2042\u2044\u2070\u2074-\u207e\u2080-\u208e\u20a4\u2100\u2101"
    "\u2103-\u2106\u2108\u2109\u2114\u2116-\u2118\u211e-\u2123\u2125\u2127\u2129\u212e\u213a\u213b\u2140-\u2144"
    "\u214a-\u214d\u214f\u2155-\u215e\u2190-\u24b5\u24d0-\u2bff\u3001\u3002\u3012\u30fb\uff01-\uff0f\uff1a-\uff20"
    "\uff3b-\uff40\uff5b-\uff65\uffe0\uffe1\uffe5\uffe6/]"
)
SPELLINGS = {
    "(": "-lrb-",
    ")": "-rrb-",
    "[": "-lsb-",
    "]": "-rsb-",
    "{": "-lcb-",
    "}": "-rcb-",
    "¢": "cents",
    "£": "#",
    "¤": "$",
    "€": "$",
    "₠": "$",
    "¼": "1/4",
    "½": "1/2",
    "¾": "3/4",
    "⅓": "1/3",
    "⅔": "2/3",
    "&amp;": "&",
    "&lt;": "<",
    "&gt;": ">",
}
DROPPED = frozenset(("''", "'", "``", "`", '"', ".", "?", "!", ",", ":", ";", "-", "--", "---", "----")) | {
    "&quot;",
    "&apos;",
    "&mdash;",
    "&ndash;",
    "&md;",
}
"""Tokens that a caption is scored without, in the spellings that the rules give."""

TWO_WORDS = frozenset(("cannot", "gonna", "wanna", "gotta", "lemme", "gimme"))
ABBREVIATION = re.compile(rf"(?:{_MAY_END}|{_NEVER_ENDS}|{_BEFORE_NUMBERS}|[A-Za-z])")
