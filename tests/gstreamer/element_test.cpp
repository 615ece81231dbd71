// Tests the element lulldenoise with the harness of GStreamer's check library: latency, end of
// stream, flush, new caps and discontinuities.

#include <gmock/gmock.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace lull::gstreamer {
namespace {

constexpr GstClockTime frame_time = 40 * GST_MSECOND;

/// Loads GStreamer with the plug-in of this build.
class GstreamerSetup : public testing::Environment {
 public:
  void SetUp() override {
    g_setenv("GST_PLUGIN_PATH", LULL_GSTREAMER_FOLDER, TRUE);
    g_setenv("GST_REGISTRY_FORK", "no", TRUE);
    const std::string registry = testing::TempDir() + "lull_gstreamer_registry";
    g_setenv("GST_REGISTRY", registry.c_str(), TRUE);
    gst_init(nullptr, nullptr);
  }
};
const auto* const setup = testing::AddGlobalTestEnvironment(new GstreamerSetup);

constexpr int height = 24;

/// Returns frame `number` of a noisy clip. If the stride differs from the width, the buffer has
/// metadata that describe the stride.
GstBuffer* make_buffer(int number, int width, int stride) {
  std::mt19937 random(static_cast<unsigned>(number));
  std::normal_distribution<double> noise(120, 10);
  std::vector<std::uint8_t> samples(static_cast<std::size_t>(stride) * height, 255);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      samples[static_cast<std::size_t>(y) * stride + x] = static_cast<std::uint8_t>(noise(random));
  GstBuffer* buffer = gst_buffer_new_allocate(nullptr, samples.size(), nullptr);
  gst_buffer_fill(buffer, 0, samples.data(), samples.size());
  GST_BUFFER_PTS(buffer) = static_cast<GstClockTime>(number) * frame_time;
  GST_BUFFER_DURATION(buffer) = frame_time;
  if (stride == width) return buffer;
  gsize offsets[GST_VIDEO_MAX_PLANES] = {};
  gint strides[GST_VIDEO_MAX_PLANES] = {stride};
  gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8,
                                 static_cast<guint>(width), height, 1, offsets, strides);
  return buffer;
}

/// A harness around one element, with grey frames as input.
class Element {
 public:
  explicit Element(const std::string& properties, int width = 32)
      : harness_(gst_harness_new_parse(("lulldenoise device=cpu " + properties).c_str())) {
    set_width(width);
  }
  ~Element() { gst_harness_teardown(harness_); }
  Element(const Element&) = delete;
  Element& operator=(const Element&) = delete;

  void set_width(int width) {
    width_ = width;
    const std::string caps =
        "video/x-raw,format=GRAY8,height=24,framerate=25/1,width=" + std::to_string(width);
    gst_harness_set_src_caps_str(harness_, caps.c_str());
  }
  /// Pushes frame `number` of a noisy clip.
  void push(int number, bool discontinuity = false) {
    GstBuffer* buffer = make_buffer(number, width_, width_);
    if (discontinuity) GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DISCONT);
    push(buffer);
  }
  void push(GstBuffer* buffer) { EXPECT_EQ(gst_harness_push(harness_, buffer), GST_FLOW_OK); }
  void end(GstEvent* event = gst_event_new_eos()) {
    EXPECT_TRUE(gst_harness_push_event(harness_, event));
  }
  void flush() {
    gst_harness_push_event(harness_, gst_event_new_flush_start());
    gst_harness_push_event(harness_, gst_event_new_flush_stop(TRUE));
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    gst_harness_push_event(harness_, gst_event_new_segment(&segment));
  }
  guint ready() const { return gst_harness_buffers_in_queue(harness_); }
  GstClockTime latency() const { return gst_harness_query_latency(harness_); }

  struct Result {
    GstClockTime time = 0;
    std::vector<std::uint8_t> samples;
    bool operator==(const Result&) const = default;
  };
  std::vector<Result> results() {
    std::vector<Result> all;
    while (GstBuffer* buffer = gst_harness_try_pull(harness_)) {
      Result& result = all.emplace_back();
      result.time = GST_BUFFER_PTS(buffer);
      result.samples.resize(gst_buffer_get_size(buffer));
      gst_buffer_extract(buffer, 0, result.samples.data(), result.samples.size());
      gst_buffer_unref(buffer);
    }
    return all;
  }

 private:
  GstHarness* harness_;
  int width_ = 0;
};

std::vector<Element::Result> results_of(const std::string& properties, int first, int count) {
  Element element(properties);
  for (int k = first; k < first + count; ++k) element.push(k);
  element.end();
  return element.results();
}

TEST(Element, StatesTheLatencyThatItHas) {
  for (const char* temporal : {"0", "1", "2"}) {
    SCOPED_TRACE(temporal);
    Element element(std::string("sigma=10 profile=fast temporal=") + temporal);
    int pushed = 0;
    while (element.ready() == 0 && pushed < 20) element.push(pushed++);
    EXPECT_EQ(element.latency(), static_cast<GstClockTime>(pushed) * frame_time);
  }
}

TEST(Element, KeepsFramesUntilTheNoiseIsEstimated) {
  Element element("preset=veryfast");
  EXPECT_EQ(element.latency(), 8 * frame_time);
  for (int k = 0; k < 7; ++k) element.push(k);
  EXPECT_EQ(element.ready(), 0u);
  element.push(7);
  EXPECT_EQ(element.ready(), 8u);
  EXPECT_EQ(element.latency(), frame_time);
}

TEST(Element, EndOfStreamReturnsAllFramesWithTheirTimes) {
  for (const char* properties : {"sigma=10 preset=medium", "preset=faster"}) {
    const auto results = results_of(properties, 0, 5);
    ASSERT_EQ(results.size(), 5u) << properties;
    for (std::size_t k = 0; k < results.size(); ++k) EXPECT_EQ(results[k].time, k * frame_time);
  }
}

TEST(Element, EndOfSegmentOrGroupReturnsAllFrames) {
  for (GstEvent* event : {gst_event_new_segment_done(GST_FORMAT_TIME, 5 * frame_time),
                          gst_event_new_stream_group_done(1)}) {
    Element element("sigma=10 preset=faster");
    for (int k = 0; k < 5; ++k) element.push(k);
    element.end(event);
    EXPECT_EQ(element.results(), results_of("sigma=10 preset=faster", 0, 5));
  }
}

TEST(Element, RefusesCapsThatItCannotFilter) {
  for (const auto& [properties, extra] : std::vector<std::pair<std::string, std::string>>{
           {"sigma=9", ",interlace-mode=interleaved"}, {"sigma=9 device=gpu", ""}}) {
    GstHarness* harness = gst_harness_new_parse(("lulldenoise " + properties).c_str());
    gst_harness_play(harness);
    GstCaps* caps = gst_caps_from_string(
        ("video/x-raw,format=I420,width=32,height=24,framerate=25/1" + extra).c_str());
    gst_harness_push_event(harness, gst_event_new_stream_start("stream"));
    gst_harness_push_event(harness, gst_event_new_caps(caps));
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    gst_harness_push_event(harness, gst_event_new_segment(&segment));
    EXPECT_EQ(gst_harness_push(harness, gst_buffer_new_allocate(nullptr, 1152, nullptr)),
              GST_FLOW_NOT_NEGOTIATED)
        << properties << extra;
    gst_caps_unref(caps);
    gst_harness_teardown(harness);
  }
}

TEST(Element, FlushDiscardsFramesAndState) {
  Element element("sigma=10 preset=faster");
  for (int k = 20; k < 23; ++k) element.push(k);
  (void)element.results();
  element.flush();
  for (int k = 0; k < 5; ++k) element.push(k);
  element.end();
  EXPECT_EQ(element.results(), results_of("sigma=10 preset=faster", 0, 5));
}

TEST(Element, NewCapsReturnTheFramesOfTheOldOnesFirst) {
  Element element("sigma=10 preset=faster");
  for (int k = 0; k < 4; ++k) element.push(k);
  element.set_width(48);
  for (int k = 4; k < 7; ++k) element.push(k);
  element.end();
  std::vector<std::size_t> sizes;
  for (const auto& result : element.results()) sizes.push_back(result.samples.size());
  EXPECT_THAT(sizes, testing::ElementsAre(768, 768, 768, 768, 1152, 1152, 1152));
}

TEST(Element, ResultsHaveNoPaddingOfTheInput) {
  Element element("sigma=10 preset=faster");
  for (int k = 0; k < 5; ++k) element.push(make_buffer(k, 32, 48));
  element.end();
  EXPECT_EQ(element.results(), results_of("sigma=10 preset=faster", 0, 5));
}

TEST(Element, ReturnsBuffersToThePreviousElementAtOnce) {
  for (const char* properties : {"preset=faster", "sigma=10 preset=faster"}) {
    Element element(properties);
    int returned = 0;
    for (int k = 0; k < 12; ++k) {
      GstBuffer* buffer = make_buffer(k, 32, 32);
      gst_mini_object_weak_ref(
          GST_MINI_OBJECT(buffer),
          [](gpointer count, GstMiniObject*) { ++*static_cast<int*>(count); }, &returned);
      element.push(buffer);
      EXPECT_EQ(returned, k + 1) << properties;
    }
    element.end();
    EXPECT_EQ(element.results().size(), 12u) << properties;
  }
}

TEST(Element, DiscontinuitySeparatesFrames) {
  Element element("sigma=10 preset=faster");
  for (int k = 0; k < 4; ++k) element.push(k);
  for (int k = 9; k < 13; ++k) element.push(k, k == 9);
  element.end();
  auto expected = results_of("sigma=10 preset=faster", 0, 4);
  for (const auto& result : results_of("sigma=10 preset=faster", 9, 4)) expected.push_back(result);
  EXPECT_EQ(element.results(), expected);
}

}  // namespace
}  // namespace lull::gstreamer
