"""self_test_abi.py --compiler CC HEADER: abi.py must find planted breaks, and accept additions."""

import argparse
import tempfile
from pathlib import Path

from abi import breaks

parser = argparse.ArgumentParser()
parser.add_argument("--compiler", required=True)
parser.add_argument("header", type=Path)
given = parser.parse_args()
text = given.header.read_text()

BREAKS = {
    "a member in the middle": ("  int32_t width, height;", "  int32_t depth;\n  int32_t width, height;"),
    "a member that is gone": ("  int64_t tag; ", "  /* no tag */ "),
    "another type of the same size": ("  float white; ", "  int32_t white; "),
    "members in another order": ("  int32_t width, height;", "  int32_t height, width;"),
    "a longer array": ("  char name[32];", "  char name[64];"),
    "another value": ("LULL_CANCELLED = -7,", "LULL_CANCELLED = -17,"),
    "an enumerator that is gone": ("LULL_RICIAN = 1 }", "LULL_RICE = 1 }"),
    "a function that is gone": ("LULL_API const char* lull_version(void);", ""),
    "another argument": ("lull_cancel(lull_session* session);", "lull_cancel(void);"),
    "another result": ("LULL_API void lull_noise_free", "LULL_API lull_status lull_noise_free"),
    "another callback": ("typedef void (*lull_release_function)(void* user);",
                         "typedef int (*lull_release_function)(void* user);"),
    "another status type": ("typedef int32_t lull_status;", "typedef int64_t lull_status;"),
}
ADDITIONS = {
    "nothing": ("", ""),
    "a member at the end": ("  void* user;\n} lull_frame;", "  void* user;\n  int64_t more;\n} lull_frame;"),
    "an enumerator": ("LULL_RICIAN = 1 }", "LULL_RICIAN = 1, LULL_POISSON = 2 }"),
    "a function": ("LULL_API const char* lull_version(void);",
                   "LULL_API const char* lull_version(void);\nLULL_API int lull_new(void);"),
}

with tempfile.TemporaryDirectory() as folder:
    changed = Path(folder, "lull.h")
    for what, (old, new) in {**BREAKS, **ADDITIONS}.items():
        if old not in text:
            raise SystemExit(f"{what}: '{old}' is not in the header")
        changed.write_text(text.replace(old, new, 1))
        try:
            found = breaks(given.header, changed, given.compiler)
        except SystemExit as error:
            found = [str(error)]
        if bool(found) != (what in BREAKS):
            raise SystemExit(f"{what}: {found or 'not found'}")
print(f"{len(BREAKS)} breaks found, {len(ADDITIONS)} additions accepted")
