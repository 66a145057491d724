"""Installed as the top-level package `flagevalmm`; importing it gives `flagmm` itself."""

import sys

import flagmm

sys.modules[__name__] = flagmm
