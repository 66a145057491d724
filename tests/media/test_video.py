import io
import os
import socket
import struct
import subprocess
import sys
from fractions import Fraction
from itertools import pairwise

import av
import pytest
from hypothesis import given as forall
from hypothesis import strategies as st
from PIL import Image

from flagmm.errors import ConfigError, DataError
from flagmm.media.image import ImageLimits
from flagmm.media.video import Span, frames_per_second, inner_frames, sample_frame_indices, sample_frames
from flagmm.types import MediaSource

SIZE = (64, 48)
BITS = range(8)
"""Each frame shows its number as eight bars, black or white, so that lossy coding cannot blur it."""
IDENTITY_MATRIX = struct.pack(">9i", 1 << 16, 0, 0, 0, 1 << 16, 0, 0, 0, 1 << 30)


def make_video(path, frames=100, *, codec="libx264", key_every=10, size=SIZE, options=None, times=None, rate=25):
    with av.open(str(path), "w", options={"movflags": "faststart"} if path.suffix == ".mp4" else {}) as container:
        stream = container.add_stream(codec, rate=rate, options={"x264-params": "scenecut=0", **(options or {})})
        stream.width, stream.height, stream.pix_fmt = *size, "yuv420p"
        stream.codec_context.gop_size = key_every
        stream.codec_context.max_b_frames = 2
        if times is not None:
            stream.codec_context.time_base = Fraction(1, 1000)
        for number in range(frames):
            picture = Image.new("RGB", size)
            for bit in BITS:
                picture.paste("white" if number >> bit & 1 else "black", (8 * bit, 0, 8 * bit + 8, size[1]))
            frame = av.VideoFrame.from_image(picture)
            if times is not None:
                frame.pts, frame.time_base = times[number], Fraction(1, 1000)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


@pytest.fixture(scope="module")
def mp4(tmp_path_factory):
    return make_video(tmp_path_factory.mktemp("video") / "plain.mp4")


def sample(path, max_frames=8, **limits):
    return sample_frames(MediaSource(path=str(path)), max_frames, ImageLimits(**limits))


def pictures(frames):
    assert {frame.mime for frame in frames} <= {"image/jpeg"}
    return [Image.open(io.BytesIO(frame.data)) for frame in frames]


def greys(frames):
    return [picture.convert("L") for picture in pictures(frames)]


def numbers(frames):
    """Which frames of `make_video` these are."""
    return [sum((grey.getpixel((8 * bit + 4, 20)) > 128) << bit for bit in BITS) for grey in greys(frames)]


@pytest.mark.bug_cases("frame_indices")
def test_recorded_faults_do_not_come_back(given, expected):
    if isinstance(expected, dict):
        with pytest.raises(DataError):
            sample_frame_indices(given["total_frames"], given["max_frames"])
    else:
        assert sample_frame_indices(given["total_frames"], given["max_frames"]) == expected


@pytest.mark.parametrize(
    ("total", "most", "expected"),
    [
        (1, 1, [0]),
        (1, 8, [0]),
        (8, 8, list(range(8))),
        (9, 1, [4]),
        (10, 1, [4]),
        (10, 2, [0, 9]),
        (10, 3, [0, 4, 9]),
        (100, 5, [0, 24, 49, 74, 99]),
    ],
)
def test_indices_are_spread_from_the_first_frame_to_the_last(total, most, expected):
    assert sample_frame_indices(total, most) == expected


@forall(st.integers(1, 10**12), st.integers(2, 300))
def test_indices_are_distinct_ordered_and_even(total, most):
    found = sample_frame_indices(total, most)
    assert len(found) == min(total, most)
    assert found[0] == 0
    assert found[-1] == total - 1
    steps = {later - earlier for earlier, later in pairwise(found)}
    assert not steps or (min(steps) >= 1 and max(steps) - min(steps) <= 1)


@pytest.mark.parametrize("most", [0, -1])
def test_less_than_one_frame_is_a_config_error(mp4, most):
    with pytest.raises(ConfigError, match="max_num_frames"):
        sample_frame_indices(10, most)
    with pytest.raises(ConfigError, match="max_num_frames"):
        sample(mp4, most)


@pytest.mark.parametrize(
    ("name", "codec"),
    [
        pytest.param("x.mp4", "libx264", id="h264 with frames out of order"),
        pytest.param("x.mkv", "libx264", id="matroska, no frame count"),
        pytest.param("x.avi", "mpeg4", id="avi"),
        pytest.param("x.webm", "libvpx-vp9", id="vp9"),
        pytest.param("x.ts", "libx264", id="transport stream, times do not start at 0"),
        pytest.param("x.h264", "libx264", id="no times at all"),
        pytest.param("x.flv", "libx264", id="flv"),
    ],
)
@pytest.mark.parametrize("most", [1, 3, 7, 100, 1000])
def test_the_right_frames_come_in_order_from_every_container(tmp_path, name, codec, most):
    path = make_video(tmp_path / name, codec=codec)
    assert numbers(sample(path, most)) == sample_frame_indices(100, most)


@pytest.mark.parametrize("name", ["x.mkv", "x.mp4"])
@pytest.mark.parametrize("most", [1, 4, 9, 100])
def test_frames_shown_for_different_times_are_counted_alike(tmp_path, name, most):
    times = [number * 20 + (number % 7) * 150 * (number > 30) + number**2 for number in range(60)]
    path = make_video(tmp_path / name, frames=60, times=sorted(times))
    assert numbers(sample(path, most)) == sample_frame_indices(60, most)


@pytest.mark.parametrize("name", ["x.mp4", "x.mkv", "x.ts", "x.webm"])
@pytest.mark.parametrize(
    ("start", "end", "first", "last"),
    [
        (None, None, 0, 99),
        (0, 1, 0, 25),
        (2, None, 50, 99),
        (None, 0.5, 0, 12),
        (1.2, 2.4, 30, 60),
        (1.21, 2.39, 31, 59),
        (3.96, 100, 99, 99),
    ],
)
def test_a_part_of_a_video_is_taken_from_its_own_frames(tmp_path, name, start, end, first, last):
    path = make_video(tmp_path / name, codec="libvpx-vp9" if name == "x.webm" else "libx264")
    source, span = MediaSource(path=str(path)), Span(start=start, end=end)
    found = sample_frames(source, 5, ImageLimits(), span=span)
    assert numbers(found) == [first + index for index in sample_frame_indices(last - first + 1, 5)]


@pytest.mark.parametrize(
    ("name", "span", "message"),
    [
        ("x.mp4", Span(start=5), "has no frames from 5 s to the end"),
        ("x.mp4", Span(start=4, end=5), "has no frames from 4 s to 5 s"),
        ("x.h264", Span(start=1), "does not tell when its frames are shown"),
    ],
)
def test_a_part_without_frames_is_an_error_that_names_it(tmp_path, name, span, message):
    path = make_video(tmp_path / name)
    with pytest.raises(DataError) as caught:
        sample_frames(MediaSource(path=str(path)), 5, ImageLimits(), span=span)
    assert str(caught.value).startswith(f"{path}: {message}")


@pytest.mark.parametrize("name", ["x.mp4", "x.mkv", "x.ts"])
@pytest.mark.parametrize(
    ("start", "end", "shown"),
    [(1.01, 1.02, 25), (0.001, 0.039, 0), (3.961, 3.97, 99), (3.98, None, 99), (1.02, 1.02, 25)],
)
def test_a_part_in_which_no_frame_begins_has_the_one_on_the_screen(tmp_path, name, start, end, shown):
    source = MediaSource(path=str(make_video(tmp_path / name)))
    assert numbers(sample_frames(source, 5, ImageLimits(), span=Span(start=start, end=end))) == [shown]


def test_a_frame_that_is_shown_for_long_is_on_the_screen_all_the_while(tmp_path):
    path = make_video(tmp_path / "slides.mkv", frames=3, times=[0, 5000, 10_000])
    source = MediaSource(path=str(path))
    for start, end, shown in ((2, 4, [0]), (5.5, 9, [1]), (4, 6, [1])):
        assert numbers(sample_frames(source, 5, ImageLimits(), span=Span(start=start, end=end))) == shown


def test_the_cover_of_a_song_is_no_video(tmp_path):
    cover = io.BytesIO()
    Image.new("RGB", (16, 16)).save(cover, "PNG")
    body = b"\0image/png\0\3\0" + cover.getvalue()
    frame = b"APIC" + struct.pack(">I", len(body)) + b"\0\0" + body
    length = bytes(len(frame) >> shift & 0x7F for shift in (21, 14, 7, 0))
    song = (b"\xff\xfb\x90\x64" + bytes(413)) * 20
    (tmp_path / "song.mp3").write_bytes(b"ID3\3\0\0" + length + frame + song)
    with pytest.raises(DataError, match=r"song\.mp3: has no video in it$"):
        sample(tmp_path / "song.mp3")


def test_a_file_with_sound_only_is_no_video(tmp_path):
    with av.open(str(tmp_path / "sound.mp4"), "w") as container:
        stream = container.add_stream("aac", rate=8000, layout="mono")
        frame = av.AudioFrame(format="fltp", layout="mono", samples=1024)
        frame.sample_rate = 8000
        frame.planes[0].update(bytes(4096))
        container.mux(stream.encode(frame))
        container.mux(stream.encode())
    with pytest.raises(DataError, match=r"sound\.mp4: has no video in it$"):
        sample(tmp_path / "sound.mp4")


@pytest.mark.parametrize("name", ["none.mkv", "none.avi"])
def test_a_video_without_frames_is_an_error_that_names_it(tmp_path, name):
    with av.open(str(tmp_path / name), "w") as container:
        stream = container.add_stream("mpeg4", rate=25)
        stream.width, stream.height, stream.pix_fmt = *SIZE, "yuv420p"
        container.start_encoding()
    with pytest.raises(DataError, match=rf"{name}: "):
        sample(tmp_path / name)


def test_frames_between_open_groups_are_the_right_ones(tmp_path):
    path = make_video(tmp_path / "open.mp4", options={"x264-params": "open-gop=1:keyint=10:min-keyint=10:bframes=3"})
    assert numbers(sample(path, 9)) == sample_frame_indices(100, 9)


def test_bytes_in_memory_give_the_same_frames(mp4):
    assert sample_frames(MediaSource(data=mp4.read_bytes()), 5, ImageLimits()) == sample(mp4, 5)


def test_parts_without_a_wanted_frame_are_not_decoded(mp4, tmp_path):
    with av.open(str(mp4)) as container:
        middle = [(packet.pos, packet.size) for packet in container.demux(video=0) if packet.size][30:60]
    data = bytearray(mp4.read_bytes())
    for position, size in middle:
        data[position : position + size] = b"\xff" * size
    path = tmp_path / "damaged.mp4"
    path.write_bytes(data)
    assert numbers(sample(path, 2)) == [0, 99]
    with pytest.raises(DataError, match=r"damaged\.mp4: "):
        sample(path, 100)


def test_a_packet_that_shows_nothing_is_not_counted_as_a_frame(tmp_path):
    path = make_video(tmp_path / "hidden.webm", codec="libvpx", frames=60)
    data = path.read_bytes()
    with av.open(str(path)) as container:
        packets = [bytes(packet) for packet in container.demux(video=0)]
    hidden = next(number for number in range(20, 40) if number % 10 and data.count(packets[number]) == 1)
    packet = packets[hidden]
    path.write_bytes(data.replace(packet, bytes([packet[0] & ~0x10]) + packet[1:]))  # VP8's "show this frame"
    visible = [number for number in range(60) if number != hidden]
    assert numbers(sample(path, 1000)) == visible
    most = next(most for most in range(2, 60) if hidden in sample_frame_indices(60, most))
    assert numbers(sample(path, most)) == [visible[index] for index in sample_frame_indices(59, most)]


def test_a_video_of_one_frame(tmp_path):
    assert len(sample(make_video(tmp_path / "one.mp4", frames=1))) == 1


@pytest.mark.parametrize(
    ("turn", "size", "corner"),
    [
        pytest.param((1, 0, 0, 1), (64, 48), (10, 10), id="upright"),
        pytest.param((0, 1, -1, 0), (48, 64), (38, 10), id="90 degrees clockwise"),
        pytest.param((-1, 0, 0, -1), (64, 48), (54, 38), id="upside down"),
        pytest.param((0, -1, 1, 0), (48, 64), (10, 54), id="90 degrees counterclockwise"),
    ],
)
def test_frames_are_turned_as_the_file_says(tmp_path, turn, size, corner):
    path = tmp_path / "turned.mp4"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=25)
        stream.width, stream.height, stream.pix_fmt = *SIZE, "yuv420p"
        picture = Image.new("RGB", SIZE, "black")
        picture.paste("white", (0, 0, 20, 20))
        container.mux(stream.encode(av.VideoFrame.from_image(picture)))
        container.mux(stream.encode())
    data = path.read_bytes()
    a, b, c, d = (number << 16 for number in turn)
    matrix = struct.pack(">9i", a, b, 0, c, d, 0, 0, 0, 1 << 30)
    track = data.index(IDENTITY_MATRIX, data.index(b"tkhd"))
    path.write_bytes(data[:track] + matrix + data[track + len(matrix) :])
    (frame,) = pictures(sample(path))
    assert frame.size == size
    bright = [
        (x, y) for x in (10, size[0] - 10) for y in (10, size[1] - 10) if frame.convert("L").getpixel((x, y)) > 128
    ]
    assert bright == [corner]


def test_frames_keep_to_the_limits(mp4):
    frames = sample(mp4, 3, max_long_side=32, max_bytes=1200)
    assert {picture.size for picture in pictures(frames)} == {(32, 24)}
    assert max(len(frame.data) for frame in frames) <= 900


@pytest.mark.parametrize("keep", [0.05, 0.5, 0.9])
def test_a_video_cut_off_is_an_error_that_names_it(mp4, tmp_path, keep):
    path = tmp_path / "cut.mp4"
    data = mp4.read_bytes()
    path.write_bytes(data[: int(len(data) * keep)])
    with pytest.raises(DataError, match=r"cut\.mp4: ") as caught:
        sample(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["missing.mp4", "folder.mp4", "empty.mp4", "text.mp4", "pipe.mp4", "a.wav"])
def test_what_is_no_video_is_an_error_that_names_it(tmp_path, name):
    (tmp_path / "folder.mp4").mkdir()
    (tmp_path / "empty.mp4").touch()
    (tmp_path / "text.mp4").write_text("just a text\n" * 100)
    os.mkfifo(tmp_path / "pipe.mp4")
    fmt = b"fmt " + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 8000, 1, 8)
    sound = b"WAVE" + fmt + b"data" + struct.pack("<I", 800) + bytes(800)
    (tmp_path / "a.wav").write_bytes(b"RIFF" + struct.pack("<I", len(sound)) + sound)
    with pytest.raises(DataError) as caught:
        sample(tmp_path / name)
    assert str(caught.value).startswith(f"{tmp_path / name}: ")
    assert "\n" not in str(caught.value)


def test_a_playlist_cannot_make_us_connect_anywhere(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        path = tmp_path / "list.m3u8"
        address = f"http://127.0.0.1:{server.getsockname()[1]}/a.ts"
        path.write_text(f"#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXTINF:5,\n{address}\n#EXT-X-ENDLIST\n")
        with pytest.raises(DataError, match=r"list\.m3u8"):
            sample(path)
        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.mark.parametrize("source", [MediaSource(url="http://127.0.0.1:9/a.mp4"), MediaSource()])
def test_only_files_and_bytes_are_read(source):
    with pytest.raises(ValueError, match="only a file or bytes"):
        sample_frames(source, 8, ImageLimits())


def test_a_name_that_looks_like_a_protocol_is_a_file_name(mp4, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "concat:a.mp4").write_bytes(mp4.read_bytes())
    assert len(sample("concat:a.mp4", 3)) == 3


def test_without_pyav_the_error_says_what_to_install():
    code = (
        "import sys; sys.modules['av'] = None\n"
        "from flagmm.media.video import *\n"
        "from flagmm.errors import MissingExtraError\n"
        "try: sample_frames(MediaSource(path='x.mp4'), 8, ImageLimits())\n"
        "except MissingExtraError as error: print(error)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.strip() == "reading a video needs 'av': pip install 'flagmm[video]'"


@pytest.mark.parametrize(
    ("rate", "total", "video_rate", "expected"),
    [
        pytest.param(1, 300, 25, [*range(0, 300, 25)], id="12 s of 25 frames, one a second"),
        pytest.param(0.1, 1000, 25, [0, 250, 500, 750], id="a rate that no float is"),
        pytest.param(3, 50, 25, [0, 8, 16, 25, 33, 41], id="steps between frames"),
        pytest.param(1, 3000, Fraction(30000, 1001), [number * 30000 // 1001 for number in range(100)], id="NTSC"),
        pytest.param(30, 10, 10, [*range(10)], id="more than the video has"),
    ],
)
def test_a_rate_picks_the_frames_of_its_formula(rate, total, video_rate, expected):
    seconds = Fraction(total) / Fraction(video_rate)
    assert frames_per_second(rate).choose(total, seconds) == expected
    assert frames_per_second(rate).choose(total, float(seconds)) == expected


@forall(
    st.integers(1, 5000),
    st.sampled_from([Fraction(24), Fraction(25), Fraction(30000, 1001), Fraction(24000, 1001), Fraction(15), 60]),
    st.sampled_from(["0.1", "0.5", "0.7", "1", "2", "3.3", "10"]),
)
def test_the_formula_holds_for_all_lengths_and_rates(total, video_rate, rate):
    wanted = total * Fraction(rate) // video_rate
    formula = [int(number * video_rate / Fraction(rate)) for number in range(wanted)] or [0]
    assert frames_per_second(float(rate)).choose(total, total / Fraction(video_rate)) == formula


@pytest.mark.parametrize("name", ["x.mp4", "x.mkv", "x.avi", "x.ts"])
@pytest.mark.parametrize("rate", [25, 10, Fraction(30000, 1001)])
def test_a_file_is_picked_from_by_its_own_rate(tmp_path, name, rate):
    path = make_video(tmp_path / name, frames=120, codec="mpeg4" if name == "x.avi" else "libx264", rate=rate)
    frames = sample_frames(MediaSource(path=str(path)), 2, ImageLimits(), pick=frames_per_second(1))
    assert numbers(frames) == [number * rate // 1 for number in range(int(120 / rate))]


def test_a_file_of_changing_rate_is_picked_from_by_its_average_rate(tmp_path):
    times = [number * 40 for number in range(50)] + [2000 + number * 80 for number in range(50)]
    path = make_video(tmp_path / "x.mp4", times=times)
    with av.open(str(path)) as container:
        average = container.streams.video[0].average_rate
    assert average < 25
    frames = sample_frames(MediaSource(path=str(path)), 2, ImageLimits(), pick=frames_per_second(1))
    assert numbers(frames) == [int(number * average) for number in range(int(100 / average))]


def test_a_part_is_picked_from_by_the_rate_of_its_file(tmp_path):
    source = MediaSource(path=str(make_video(tmp_path / "x.mp4")))
    span = Span(start=1, end=3.5)
    assert numbers(sample_frames(source, 2, ImageLimits(), span=span, pick=frames_per_second(1))) == [25, 50]


def test_a_rate_is_bounded_by_the_most_frames():
    assert frames_per_second(1, 4).choose(300, 12) == [0, 75, 175, 275]
    assert frames_per_second(1, 12).choose(300, 12) == frames_per_second(1).choose(300, 12)


@pytest.mark.parametrize(
    ("pick", "expected"),
    [
        pytest.param(inner_frames(4), [20, 40, 60, 80], id="equal parts"),
        pytest.param(inner_frames(1), [50], id="the middle"),
        pytest.param(frames_per_second(1), [0, 25, 50, 75], id="one a second of 25 frames"),
        pytest.param(frames_per_second(0.1), [0], id="fewer than one"),
    ],
)
def test_frames_may_be_picked_as_a_data_set_asks(mp4, pick, expected):
    frames = sample_frames(MediaSource(path=str(mp4)), 2, ImageLimits(), pick=pick)
    assert numbers(frames) == expected


@pytest.mark.parametrize("pick", [inner_frames(300), frames_per_second(100)])
def test_no_frame_is_picked_twice(mp4, pick):
    assert len(sample_frames(MediaSource(path=str(mp4)), 2, ImageLimits(), pick=pick)) <= 100


@forall(st.integers(1, 10**5), st.integers(1, 300), st.floats(0.01, 1000), st.floats(0.01, 100))
def test_picked_frames_are_there_distinct_and_ordered(total, count, seconds, rate):
    for pick in (inner_frames(count), frames_per_second(rate)):
        found = pick.choose(total, seconds)[:1000]
        assert found
        assert found == sorted(set(found))
        assert 0 <= found[0] <= found[-1] < total
