#pragma once
// Replaces Highway's header of this name in builds with LULL_SIMD=native. Highway's header includes
// the source that HWY_TARGET_INCLUDE names once for each further instruction set, which does not
// work for several sources in one unit; with a single instruction set there is nothing to repeat.
