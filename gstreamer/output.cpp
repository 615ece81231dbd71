#include "gstreamer/output.h"

#include <algorithm>
#include <new>
#include <utility>

#include "gstreamer/formats.h"

namespace lull::gstreamer {
namespace {

/// Returns whether frames contain bytes that belong to no sample, such as padding at the end of
/// rows.
bool has_padding(const GstVideoInfo& info, const FrameFormat& format) {
  gsize bytes = 0;
  for (int i = 0; i < format.planes(); ++i)
    bytes += static_cast<gsize>(format.plane_width(i)) * format.plane_height(i) *
             format.bytes_per_sample();
  return bytes < GST_VIDEO_INFO_SIZE(&info);
}

/// Adds system memory for a frame. The rows have the default stride of the caps, because the next
/// element may not support other strides. Padding becomes 0, so that equal frames have equal bytes.
void add_memory(GstBuffer* buffer, const GstVideoInfo& info, const FrameFormat& format) {
  const gsize bytes = GST_VIDEO_INFO_SIZE(&info);
  GstMemory* memory = gst_allocator_alloc(nullptr, bytes, nullptr);
  if (memory == nullptr) throw std::bad_alloc();
  gst_buffer_append_memory(buffer, memory);
  if (has_padding(info, format)) gst_buffer_memset(buffer, 0, 0, bytes);
}

/// The parameters that an element proposes for a pool.
struct PoolSize {
  guint bytes = 0, min = 0, max = 0;
};

/// Configures and activates a pool.
bool activate(GstBufferPool* pool, GstCaps* caps, const PoolSize& size) {
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps, size.bytes, size.min, size.max);
  if (gst_buffer_pool_has_option(pool, GST_BUFFER_POOL_OPTION_VIDEO_META))
    gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  if (!gst_buffer_pool_set_config(pool, config)) {
    // The pool keeps its parameters, or has changed them. They may be sufficient.
    config = gst_buffer_pool_get_config(pool);
    if (!gst_buffer_pool_config_validate_params(config, caps, size.bytes, size.min, size.max)) {
      gst_structure_free(config);
      return false;
    }
    if (!gst_buffer_pool_set_config(pool, config)) return false;
  }
  return gst_buffer_pool_set_active(pool, TRUE);
}

/// Returns an active pool that the next element proposes, or null.
PoolPtr proposed_pool(GstPad* source, GstCaps* caps, const GstVideoInfo& info) {
  GstQuery* query = gst_query_new_allocation(caps, TRUE);
  PoolPtr chosen;
  if (gst_pad_peer_query(source, query))
    for (guint i = 0; !chosen && i < gst_query_get_n_allocation_pools(query); ++i) {
      GstBufferPool* proposed = nullptr;
      PoolSize size;
      gst_query_parse_nth_allocation_pool(query, i, &proposed, &size.bytes, &size.min, &size.max);
      PoolPtr pool(proposed);
      size.bytes = std::max(size.bytes, static_cast<guint>(GST_VIDEO_INFO_SIZE(&info)));
      if (pool && activate(pool.get(), caps, size)) chosen = std::move(pool);
    }
  gst_query_unref(query);
  return chosen;
}

/// Sends caps to the next element, unless they are its current caps.
bool send_caps(GstPad* source, GstCaps* caps) {
  const CapsPtr current(gst_pad_get_current_caps(source));
  if (current && gst_caps_is_equal(current.get(), caps)) return true;
  return gst_pad_push_event(source, gst_event_new_caps(caps));
}

}  // namespace

GstFlowReturn Output::set_input(GstCaps* input) {
  input_.reset(gst_caps_ref(input));
  gst_pad_check_reconfigure(source_);  // clears the request, which negotiate() answers
  return negotiate();
}

GstFlowReturn Output::negotiate() {
  const GstFlowReturn flow = try_candidates();
  if (flow != GST_FLOW_OK) gst_pad_mark_reconfigure(source_);
  return flow;
}

GstFlowReturn Output::try_candidates() {
  const CapsPtr candidates = in_both_memories(input_.get());
  const CapsPtr accepted(gst_pad_peer_query_caps(source_, candidates.get()));
  bool lacks_pool = false;
  for (guint i = 0; i < gst_caps_get_size(candidates.get()); ++i) {
    const CapsPtr caps(gst_caps_copy_nth(candidates.get(), i));
    GstVideoInfo info;
    if (!gst_caps_can_intersect(caps.get(), accepted.get()) ||
        !gst_video_info_from_caps(&info, caps.get()) || !send_caps(source_, caps.get()))
      continue;
    PoolPtr pool;
    if (in_cuda_memory(caps.get())) pool = proposed_pool(source_, caps.get(), info);
    if (pool || !in_cuda_memory(caps.get())) {
      use(std::move(pool), info);
      return GST_FLOW_OK;
    }
    // A flush lets queries fail.
    if (GST_PAD_IS_FLUSHING(source_)) return GST_FLOW_FLUSHING;
    lacks_pool = true;
  }
  if (lacks_pool)
    throw InvalidArgument(
        "results in CUDAMemory have no buffers (the next element accepts no other memory and "
        "proposes no buffer pool); put \"video/x-raw ! cudaupload\" after lulldenoise");
  return GST_PAD_IS_FLUSHING(source_) ? GST_FLOW_FLUSHING : GST_FLOW_NOT_NEGOTIATED;
}

void Output::use(PoolPtr pool, const GstVideoInfo& info) {
  if (pool_ && pool_ != pool) gst_buffer_pool_set_active(pool_.get(), FALSE);
  pool_ = std::move(pool);
  info_ = info;
}

void Output::stop() {
  use(nullptr, {});
  input_.reset();
}

/// Takes a buffer from the pool. The pool may wait until the next element releases a buffer.
GstFlowReturn Output::acquire(BufferPtr& buffer) {
  GstBuffer* acquired = nullptr;
  const GstFlowReturn flow = gst_buffer_pool_acquire_buffer(pool_.get(), &acquired, nullptr);
  buffer.reset(acquired);
  if (flow == GST_FLOW_ERROR)
    throw OutOfDeviceMemory(
        "the buffer pool of the next element gives no buffer (the memory of the GPU may be full)");
  return flow;
}

GstFlowReturn Output::push(Result result) {
  if (gst_pad_check_reconfigure(source_))
    if (const GstFlowReturn flow = negotiate(); flow != GST_FLOW_OK) return flow;
  BufferPtr buffer = std::move(result.buffer);
  if (pool_) {
    const BufferPtr properties = std::move(buffer);
    if (const GstFlowReturn flow = acquire(buffer); flow != GST_FLOW_OK) return flow;
    copy_properties(properties.get(), buffer.get());
  } else {
    add_memory(buffer.get(), info_, result.frame.format);
  }
  {
    Mapped samples(info_, buffer.get(), GST_MAP_WRITE,
                   "a buffer of the next element's pool cannot contain a frame of its caps");
    copy_samples(result.frame, samples.frame);
  }
  return gst_pad_push(source_, buffer.release());
}

}  // namespace lull::gstreamer
