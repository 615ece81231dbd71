// Tests the formats of lulldenoise that interleave chroma, and the memory of its buffers: system
// memory, CUDAMemory, and pools of the next element. The buffers of caps with CUDAMemory are in
// system memory here, because the element maps buffers of any memory in the same way.

#include <gmock/gmock.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace lull::gstreamer {
namespace {

constexpr int frames = 4;
// Odd, so that the last chroma samples cover a part of their area only.
constexpr const char* size = ",width=33,height=25,framerate=25/1";

std::string video(const std::string& format) { return "video/x-raw,format=" + format + size; }
std::string cuda_video(const std::string& format) {
  return "video/x-raw(memory:CUDAMemory),format=" + format + size;
}

GstVideoInfo info_of(const std::string& text) {
  GstCaps* caps = gst_caps_from_string(text.c_str());
  GstVideoInfo info;
  EXPECT_TRUE(gst_video_info_from_caps(&info, caps)) << text;
  gst_caps_unref(caps);
  return info;
}

/// Calls `visit(sample, depth)` for each sample of a mapped frame, component by component.
template <class Visit>
void for_each_sample(GstVideoFrame& frame, Visit visit) {
  const GstVideoFormatInfo* format = frame.info.finfo;
  for (guint c = 0; c < GST_VIDEO_FORMAT_INFO_N_COMPONENTS(format); ++c) {
    const int plane = GST_VIDEO_FORMAT_INFO_PLANE(format, c);
    auto* data = static_cast<std::uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, plane));
    // The components of an interleaved plane have the order Cb, Cr.
    if (c == 2 && plane == 1) data += GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, c) / 2;
    const unsigned depth = GST_VIDEO_FORMAT_INFO_DEPTH(format, c);
    for (int y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(&frame, c); ++y)
      for (int x = 0; x < GST_VIDEO_FRAME_COMP_WIDTH(&frame, c); ++x) {
        std::uint8_t* place = data + y * GST_VIDEO_FRAME_COMP_STRIDE(&frame, c) +
                              x * GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, c);
        if (depth == 8)
          visit(*place, depth);
        else
          visit(*reinterpret_cast<std::uint16_t*>(place), depth);
      }
  }
}

/// Returns frame `number` of a noisy clip, the same samples for all formats with the same sizes of
/// the components and the same depth.
GstBuffer* noisy_buffer(const GstVideoInfo& info, int number) {
  GstBuffer* buffer = gst_buffer_new_allocate(nullptr, info.size, nullptr);
  gst_buffer_memset(buffer, 0, 0, info.size);
  std::mt19937 random(static_cast<unsigned>(number));
  std::normal_distribution<double> noise(120, 10);
  GstVideoFrame frame;
  EXPECT_TRUE(gst_video_frame_map(&frame, const_cast<GstVideoInfo*>(&info), buffer, GST_MAP_WRITE));
  const unsigned shift = GST_VIDEO_FORMAT_INFO_SHIFT(info.finfo, 0);
  for_each_sample(frame, [&](auto& sample, unsigned depth) {
    const int value = static_cast<int>(noise(random) * (1 << (depth - 8)));
    sample = static_cast<std::decay_t<decltype(sample)>>(value << shift);
  });
  gst_video_frame_unmap(&frame);
  GST_BUFFER_PTS(buffer) = static_cast<GstClockTime>(number) * 40 * GST_MSECOND;
  return buffer;
}

/// Returns the samples of a buffer, component by component, with the unused low bits.
std::vector<int> samples_of(const GstVideoInfo& info, GstBuffer* buffer) {
  std::vector<int> samples;
  GstVideoFrame frame;
  EXPECT_TRUE(gst_video_frame_map(&frame, const_cast<GstVideoInfo*>(&info), buffer, GST_MAP_READ));
  for_each_sample(frame, [&](auto& sample, unsigned) { samples.push_back(sample); });
  gst_video_frame_unmap(&frame);
  return samples;
}

/// A pool whose rows have a larger stride than the caps, as rows in GPU memory have.
GstBufferPool* pool_with_stride(const std::string& text) {
  GstBufferPool* pool = gst_video_buffer_pool_new();
  GstCaps* caps = gst_caps_from_string(text.c_str());
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps, static_cast<guint>(info_of(text).size), 0, 0);
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_ALIGNMENT);
  GstVideoAlignment align;
  gst_video_alignment_reset(&align);
  align.padding_right = 95;
  gst_buffer_pool_config_set_video_alignment(config, &align);
  EXPECT_TRUE(gst_buffer_pool_set_config(pool, config));
  gst_caps_unref(caps);
  return pool;
}

/// The answer of the next element to the ALLOCATION query.
struct Proposal {
  explicit Proposal(const std::string& caps, guint most = 0)
      : pool(pool_with_stride(caps)), max(most) {}
  ~Proposal() { gst_object_unref(pool); }
  Proposal(const Proposal&) = delete;
  Proposal& operator=(const Proposal&) = delete;

  GstBufferPool* pool;
  guint max;  // buffers; 0: any number
};

GstPadProbeReturn answer_allocation(GstPad*, GstPadProbeInfo* probe, gpointer data) {
  const auto& proposal = *static_cast<const Proposal*>(data);
  GstQuery* query = GST_PAD_PROBE_INFO_QUERY(probe);
  if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION) return GST_PAD_PROBE_OK;
  gst_query_add_allocation_pool(query, proposal.pool, 0, 0, proposal.max);
  return GST_PAD_PROBE_HANDLED;
}

bool describes_cuda_memory(const GstCaps* caps, guint i) {
  return gst_caps_features_contains(gst_caps_get_features(caps, i), "memory:CUDAMemory");
}

using Clip = std::vector<std::vector<int>>;  // the samples of each frame

/// A harness around lulldenoise. Its next element accepts the caps `output`, or any caps.
class Chain {
 public:
  explicit Chain(const std::string& output = "")
      : harness_(gst_harness_new_parse("lulldenoise device=cpu sigma=10 preset=faster")) {
    if (!output.empty()) accept(output);
  }
  ~Chain() { gst_harness_teardown(harness_); }
  Chain(const Chain&) = delete;
  Chain& operator=(const Chain&) = delete;

  void accept(const std::string& output) {
    gst_harness_set_sink_caps_str(harness_, output.c_str());
  }
  void propose(Proposal& proposal) {
    constexpr auto types =
        static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM | GST_PAD_PROBE_TYPE_PUSH);
    gst_pad_add_probe(harness_->sinkpad, types, answer_allocation, &proposal, nullptr);
  }
  void set_input(const std::string& input) {
    input_ = info_of(input);
    gst_harness_set_src_caps_str(harness_, input.c_str());
  }
  GstFlowReturn push(int number) {
    return gst_harness_push(harness_, noisy_buffer(input_, number));
  }
  void end() { EXPECT_TRUE(gst_harness_push_event(harness_, gst_event_new_eos())); }
  /// Pushes a clip up to its end.
  void filter(const std::string& input) {
    set_input(input);
    for (int k = 0; k < frames; ++k) EXPECT_EQ(push(k), GST_FLOW_OK);
    end();
  }
  GstBuffer* pull() { return gst_harness_try_pull(harness_); }
  /// Returns the samples of the results.
  Clip results() {
    Clip clip;
    while (GstBuffer* buffer = pull()) {
      clip.push_back(samples_of(input_, buffer));
      gst_buffer_unref(buffer);
    }
    return clip;
  }
  bool sends_cuda_memory() const {
    GstCaps* caps = gst_pad_get_current_caps(harness_->sinkpad);
    const bool cuda = describes_cuda_memory(caps, 0);
    gst_caps_unref(caps);
    return cuda;
  }
  GstHarness* harness() { return harness_; }

 private:
  GstHarness* harness_;
  GstVideoInfo input_{};
};

Clip filtered(const std::string& input) {
  Chain chain;
  chain.filter(input);
  Clip clip = chain.results();
  EXPECT_EQ(clip.size(), static_cast<std::size_t>(frames)) << input;
  return clip;
}

/// The memories of the caps that a pad's peer accepts, in order.
std::vector<std::string> accepted_memories(GstPad* pad) {
  GstCaps* caps = gst_pad_peer_query_caps(pad, nullptr);
  std::vector<std::string> memories;
  for (guint i = 0; i < gst_caps_get_size(caps); ++i)
    memories.emplace_back(describes_cuda_memory(caps, i) ? "CUDA" : "system");
  gst_caps_unref(caps);
  return memories;
}

TEST(Formats, InterleavedChromaGivesTheSamplesOfPlanarChroma) {
  for (const auto& [planar, interleaved, shift] :
       {std::tuple("I420", "NV12", 0), std::tuple("I420_10LE", "P010_10LE", 6),
        std::tuple("I420_12LE", "P012_LE", 4)}) {
    Clip expected = filtered(video(planar));
    for (auto& frame : expected)
      for (int& sample : frame) sample <<= shift;
    EXPECT_EQ(filtered(video(interleaved)), expected) << interleaved;
  }
}

TEST(Memory, BothPadsAcceptBothMemories) {
  Chain chain;
  EXPECT_THAT(accepted_memories(chain.harness()->srcpad), testing::ElementsAre("system", "CUDA"));
  for (const auto& output : {video("NV12"), cuda_video("NV12")}) {
    chain.accept(output);
    EXPECT_THAT(accepted_memories(chain.harness()->srcpad),
                testing::UnorderedElementsAre("system", "CUDA"));
  }
  gst_harness_set_src_caps_str(chain.harness(), video("NV12").c_str());
  EXPECT_THAT(accepted_memories(chain.harness()->sinkpad), testing::ElementsAre("system", "CUDA"));
}

TEST(Memory, TheMemoryThatTheNextElementAcceptsComesFirst) {
  Chain chain(cuda_video("NV12"));
  EXPECT_THAT(accepted_memories(chain.harness()->srcpad), testing::ElementsAre("CUDA", "system"));
  chain.accept(video("NV12"));
  EXPECT_THAT(accepted_memories(chain.harness()->srcpad), testing::ElementsAre("system", "CUDA"));
}

TEST(Memory, ResultsDoNotDependOnTheMemories) {
  for (const char* format : {"NV12", "P010_10LE", "I420"}) {
    const Clip expected = filtered(video(format));
    for (const auto& input : {video(format), cuda_video(format)})
      for (const auto& output : {video(format), cuda_video(format)}) {
        Proposal proposal(cuda_video(format));
        Chain chain(output);
        chain.propose(proposal);
        chain.filter(input);
        EXPECT_EQ(chain.sends_cuda_memory(), output == cuda_video(format)) << input << output;
        EXPECT_EQ(chain.results(), expected) << input << output;
      }
  }
}

TEST(Memory, OutputKeepsTheMemoryOfTheInputIfTheNextElementAcceptsBoth) {
  Proposal proposal(cuda_video("NV12"));
  for (const bool cuda : {false, true}) {
    Chain chain(video("NV12") + ";" + cuda_video("NV12"));
    chain.propose(proposal);
    chain.filter(cuda ? cuda_video("NV12") : video("NV12"));
    EXPECT_EQ(chain.sends_cuda_memory(), cuda);
  }
}

TEST(Memory, BuffersInCudaMemoryComeFromTheProposedPoolWithTheMetadataOfTheInput) {
  Proposal proposal(cuda_video("NV12"));
  Chain chain(cuda_video("NV12"));
  chain.propose(proposal);
  chain.set_input(cuda_video("NV12"));
  for (int k = 0; k < frames; ++k) {
    GstBuffer* buffer = noisy_buffer(info_of(cuda_video("NV12")), k);
    gst_buffer_add_video_region_of_interest_meta(buffer, "region", static_cast<guint>(k), 0, 4, 4);
    GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_MARKER);
    EXPECT_EQ(gst_harness_push(chain.harness(), buffer), GST_FLOW_OK);
  }
  chain.end();
  int count = 0;
  for (; GstBuffer* buffer = chain.pull(); ++count) {
    EXPECT_EQ(buffer->pool, proposal.pool);
    EXPECT_EQ(GST_BUFFER_PTS(buffer), static_cast<GstClockTime>(count) * 40 * GST_MSECOND);
    EXPECT_TRUE(GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_MARKER));
    const auto* region = gst_buffer_get_video_region_of_interest_meta(buffer);
    ASSERT_NE(region, nullptr);
    EXPECT_EQ(region->x, static_cast<guint>(count));
    EXPECT_EQ(gst_buffer_get_n_meta(buffer, GST_VIDEO_META_API_TYPE), 1u);
    gst_buffer_unref(buffer);
  }
  EXPECT_EQ(count, frames);
}

TEST(Memory, PoolOfOneBufferSuffices) {
  Proposal proposal(cuda_video("NV12"), 1);
  Chain chain(cuda_video("NV12"));
  chain.propose(proposal);
  gst_harness_set_drop_buffers(chain.harness(), TRUE);
  chain.filter(cuda_video("NV12"));
  EXPECT_EQ(gst_harness_buffers_received(chain.harness()), static_cast<guint>(frames));
}

TEST(Memory, WithoutAPoolTheOutputIsInSystemMemory) {
  Chain chain(cuda_video("NV12") + ";" + video("NV12"));
  chain.filter(cuda_video("NV12"));
  EXPECT_FALSE(chain.sends_cuda_memory());
  EXPECT_EQ(chain.results(), filtered(video("NV12")));
}

TEST(Memory, WithoutAPoolCudaMemoryIsAnErrorThatNamesTheRemedy) {
  Chain chain(cuda_video("NV12"));
  GstBus* bus = gst_bus_new();
  gst_element_set_bus(chain.harness()->element, bus);
  chain.set_input(cuda_video("NV12"));
  EXPECT_EQ(chain.push(0), GST_FLOW_NOT_NEGOTIATED);
  GstMessage* message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
  ASSERT_NE(message, nullptr);
  GError* error = nullptr;
  gst_message_parse_error(message, &error, nullptr);
  EXPECT_STREQ(error->message,
               "lulldenoise: results in CUDAMemory have no buffers (the next element accepts no "
               "other memory and proposes no buffer pool); put \"video/x-raw ! cudaupload\" after "
               "lulldenoise");
  g_error_free(error);
  gst_message_unref(message);
  gst_element_set_bus(chain.harness()->element, nullptr);
  gst_object_unref(bus);
}

TEST(Memory, OutputFollowsTheNextElement) {
  Proposal proposal(cuda_video("NV12"));
  Chain chain(cuda_video("NV12"));
  chain.propose(proposal);
  chain.set_input(cuda_video("NV12"));
  for (int k = 0; k < 2; ++k) EXPECT_EQ(chain.push(k), GST_FLOW_OK);
  EXPECT_TRUE(chain.sends_cuda_memory());
  chain.accept(video("NV12"));
  for (int k = 2; k < frames; ++k) EXPECT_EQ(chain.push(k), GST_FLOW_OK);
  chain.end();
  EXPECT_FALSE(chain.sends_cuda_memory());
  EXPECT_EQ(chain.results(), filtered(video("NV12")));
}

TEST(Memory, FormatsThatTheNextElementDoesNotAcceptAreRefused) {
  Chain chain(cuda_video("P010_10LE"));
  chain.set_input(cuda_video("NV12"));
  EXPECT_EQ(chain.push(0), GST_FLOW_NOT_NEGOTIATED);
}

}  // namespace
}  // namespace lull::gstreamer
