"""One medium of a question, from the value in an annotation to the bytes that an API takes.

Start with `source.py` (any value -> `MediaSource`) and `placeholders.py` (question text -> parts), or, for a person's
own data, `values.py` (any value -> part) and `places.py` (which files may be read). `image.py`, `video.py`,
`video_file.py` and `audio.py` then turn one source into request bytes, and `identity.py` tells whether a file changed.
The other modules serve those. Nothing here opens a connection, and a medium that cannot be used is always a
`DataError` that names it.
"""
