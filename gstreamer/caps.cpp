#include "gstreamer/caps.h"

namespace lull::gstreamer {
namespace {

// The library of this memory, libgstcuda, has no stable interface, so lull names the feature only.
constexpr const char* cuda_memory = "memory:CUDAMemory";

CapsPtr intersection(GstCaps* first, GstCaps* second) {
  return CapsPtr(gst_caps_intersect_full(first, second, GST_CAPS_INTERSECT_FIRST));
}

GstCapsFeatures* features(bool cuda) {
  return gst_caps_features_new(cuda ? cuda_memory : GST_CAPS_FEATURE_MEMORY_SYSTEM_MEMORY, nullptr);
}

}  // namespace

std::string caps_text() {
  // GStreamer has no macro for the native byte order in the names of formats with a number of bits.
  const char* const order = G_BYTE_ORDER == G_LITTLE_ENDIAN ? "LE" : "BE";
  std::string formats = "GRAY8, I420, NV12, Y42B, Y444, GBR";
  for (const char* deep : {"GRAY16_", "I420_10", "P010_10", "I422_10", "Y444_10", "GBR_10",
                           "I420_12", "P012_", "I422_12", "Y444_12", "GBR_12", "P016_", "Y444_16"})
    formats += std::string(", ") + deep + order;
  const std::string fields =
      ", format=(string){ " + formats +
      " }, width=(int)[1, max], height=(int)[1, max], framerate=(fraction)[0, max]";
  return "video/x-raw" + fields + "; video/x-raw(" + cuda_memory + ")" + fields;
}

bool in_cuda_memory(const GstCaps* caps, guint i) {
  return gst_caps_features_contains(gst_caps_get_features(caps, i), cuda_memory);
}

CapsPtr in_both_memories(const GstCaps* caps) {
  GstCaps* both = gst_caps_new_empty();
  for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
    const bool cuda = in_cuda_memory(caps, i);
    for (const bool memory : {cuda, !cuda})
      both = gst_caps_merge_structure_full(
          both, gst_structure_copy(gst_caps_get_structure(caps, i)), features(memory));
  }
  return CapsPtr(both);
}

void answer_caps_query(GstPad* pad, GstPad* other, GstQuery* query) {
  GstCaps* filter = nullptr;
  gst_query_parse_caps(query, &filter);
  const CapsPtr own(gst_pad_get_pad_template_caps(pad));  // those of both pads
  const CapsPtr wanted =
      in_both_memories(filter ? intersection(filter, own.get()).get() : own.get());
  const CapsPtr accepted(gst_pad_peer_query_caps(other, wanted.get()));
  CapsPtr answer = in_both_memories(intersection(accepted.get(), own.get()).get());
  if (filter) answer = intersection(filter, answer.get());
  gst_query_set_caps_result(query, answer.get());
}

}  // namespace lull::gstreamer
