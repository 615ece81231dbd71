#pragma once
// The caps that lulldenoise accepts: formats in system memory and in the CUDAMemory of GStreamer.

#include <gst/gst.h>

#include <memory>
#include <string>

namespace lull::gstreamer {

/// Owns a reference to caps.
struct ReleaseCaps {
  void operator()(GstCaps* caps) const { gst_caps_unref(caps); }
};
using CapsPtr = std::unique_ptr<GstCaps, ReleaseCaps>;

/// Returns the caps of both pads. The formats have the byte order of this machine.
[[nodiscard]] std::string caps_text();

/// Returns whether structure `i` of caps describes frames in CUDAMemory.
[[nodiscard]] bool in_cuda_memory(const GstCaps* caps, guint i = 0);

/// Returns the caps that one pad can have if the other pad has the caps `caps`: each structure with
/// its own memory, followed by the same structure with the other memory. `caps` must be a subset of
/// caps_text().
[[nodiscard]] CapsPtr in_both_memories(const GstCaps* caps);

/// Answers the caps query of a pad: the caps that the peer of the pad `other` accepts, in both
/// memories.
void answer_caps_query(GstPad* pad, GstPad* other, GstQuery* query);

}  // namespace lull::gstreamer
