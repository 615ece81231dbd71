#pragma once
// The GObject type of the element lulldenoise.

#include <gst/gst.h>

G_DECLARE_FINAL_TYPE(LullDenoise, lull_denoise, LULL, DENOISE, GstElement)
