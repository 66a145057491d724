"""Tokens of captions; the expected values are those of Stanford CoreNLP 3.4.1 as pycocoevalcap 1.2 calls it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagmm.metrics.ptb_tokenizer import tokenize_caption


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        # clitics and words that are two
        ("The theatre's grey; it's HE'D we've I'LL", "the theatre 's grey it 's he 'd we 've i 'll"),
        ("don't CAN'T can't've don`t it’s don’t", "do n't ca n't ca n't 've do n`t it 's do n't"),
        ("cannot gonna gotta wanna gimme lemme dunno", "can not gon na got ta wan na gim me lem me dunno"),
        ("'tis 'Twas more'n d'ye y'all", "'t is 't was more 'n d'ye y' all"),
        # apostrophes that stay
        ("5 o'clock O'Brien ma'am li'l c'mon d'Avignon", "5 o'clock o'brien ma'am li'l c'mon d'avignon"),
        ("rock 'n' roll rock'n'roll '90s '07 car 'em", "rock 'n' roll rock 'n' roll '90s '07 car 'em"),
        ("the dogs' bowls 6' tall", "the dogs bowls 6 tall"),
        # periods
        ("Mr. and Mrs. Smith at St. Mary's.", "mr. and mrs. smith at st. mary 's"),
        ("at 10 a.m. in the U.S.", "at 10 a.m. in the u.s."),
        ("Apple Inc. sells. INC. Rd. MASS. mass.", "apple inc. sells inc. rd. mass. mass"),
        ("No. 5 is no. 7. No.", "no. 5 is no. 7 no"),
        ("room B. The dog in plan B.", "room b the dog in plan b."),
        ("U.S. The end.Start", "u.s. the end.start"),
        ("oz., x-ray., 5.;", "oz. x-ray. 5."),
        ("wait... what.. . . . no…", "wait what no"),
        # numbers
        ("1,000 at 10:30am, $5.00 or £3 and 5¢, 50%", "1,000 at 10:30 am $ 5.00 or # 3 and 5 cents 50 %"),
        ("US$5 us$5", "us$ 5 us $ 5"),
        ("1/2/2010 2010-05-06 -5 +1.5 .5 ½", "1/2/2010 2010-05-06 -5 +1.5 .5 1/2"),
        ("12-year-old 4-way 3x4 1st", "12-year-old 4-way 3x4 1st"),
        # signs
        ("(a) [b] {c} <d> <b>e</b>", "-lrb- a -rrb- -lsb- b -rsb- -lcb- c -rcb- <d> <b> e </b>"),
        ("he said \"a\" 'b' “c” ‘x’ «e»", "he said a b c x e"),
        ("““a””", "```` a ''''"),  # doubled, they are not the marks that are left out
        ("a--b - c – d ----- e", "a b c d ----- e"),
        ("what?! really!!! no!", "what ?! really !!! no"),
        ("a & b AT&T a+b=c a*b **", "a & b at&t a + b = c a * b **"),
        ("and/or a / b a\\b a_b #tag2 @user_1", "and/or a / b a \\ b a_b #tag 2 @user_1"),
        (":) ;-( :D x", ":-rrb- ;--lrb- :d x"),
        ("&amp; &lt; &quot; &#39; &nbsp;x", "& < &#39; x"),
        # addresses
        ("http://a.com/b?c=d. www.a.com/b/c.html a.com", "http://a.com/b?c=d www.a.com/b/c.html a.com"),
        ("me@example.com <me@example.com> 1.jpg", "me@example.com <me@example.com> 1.jpg"),
        # other scripts, and what no rule knows
        ("Café naïve 日本語 中文，标点。", "café naïve 日本語 中文 ， 标点 。"),
        ("soft\u00adhyphen zero\u200bwidth 😀 word😀word", "softhyphen zero width word word"),
        ("a\nb\r\nc\td", "a b c d"),
        # nothing
        ("", ""),
        (' .,"? ! -- ', ""),
    ],
)
def test_captions_are_cut_as_the_java_tokenizer_does(text, tokens):
    assert list(tokenize_caption(text)) == tokens.split()


@pytest.mark.parametrize(
    ("text", "token"),
    [("1 1/2", "1\u00a01/2"), ('<a b="c">', '<a\u00a0b="c">'), ("(555) 555-1234", "-lrb-555-rrb-\u00a0555-1234")],
)
def test_a_token_that_holds_a_space_holds_one_that_does_not_break(text, token):
    assert tokenize_caption(text) == (token,)


@given(st.text())
def test_any_text_can_be_cut(text):
    assert all(token and " " not in token for token in tokenize_caption(text))


@given(st.text(alphabet="abIU.15 ,'-s/$()<>@:\"n", max_size=30))
def test_no_letter_or_digit_is_lost(text):
    kept = "".join(tokenize_caption(text)).replace("-lrb-", "").replace("-rrb-", "")
    assert [char for char in kept if char.isalnum()] == [char for char in text.lower() if char.isalnum()]


@given(st.text(alphabet="ab.', ", max_size=20))
def test_white_space_around_a_caption_changes_nothing(text):
    assert tokenize_caption(f"  {text}\n") == tokenize_caption(text)
