// The plug-in of GStreamer: registers the element lulldenoise.

#include <gst/gst.h>

#include "core/version.h"
#include "gstreamer/element.h"

#define PACKAGE "lull"

static gboolean register_elements(GstPlugin* plugin) {
  return gst_element_register(plugin, "lulldenoise", GST_RANK_NONE, lull_denoise_get_type());
}

GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, lull,
                  "Denoises video with BM3D or non-local means", register_elements, lull::version,
                  "Apache 2.0", "lull", "lull")
