#pragma once
/* A program in C99 that uses the C interface, as functions for the tests. */

#include <stddef.h>

#include "lull.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Filters a grey 8-bit picture on the CPU with a method, a profile and a sigma. */
lull_status c99_denoise_picture(const unsigned char* noisy, unsigned char* clean, int width,
                                int height, const char* method, const char* profile,
                                const char* sigma);
/* Filters a volume of floats, slice after slice, with bm4d. White is 255. */
lull_status c99_denoise_volume(const float* noisy, float* clean, int width, int height, int slices,
                               const char* sigma);

#ifdef __cplusplus
}
#endif
