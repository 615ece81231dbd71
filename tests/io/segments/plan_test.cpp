// Tests the properties of the input that the plan of a shared job records, and the properties that
// are checked when a part is read.

#include <gtest/gtest.h>
#include <tiffio.h>

#include <filesystem>

#include "io/jobs.h"
#include "io/segments/segment_file.h"
#include "io/support/clip.h"

namespace lull::io::test {
namespace {

JobPlan sample() {
  JobPlan plan;
  plan.options = {{"-s,--sigma", "20"}, {"--lossless", ""}};
  plan.input = "/a b/in.mkv";
  plan.output = "/a b/out.mkv";
  plan.segment_frames = 4;
  plan.threads = 3;
  plan.margin = 2;
  plan.facts = {{"a name", "100% \n\xff"}};
  plan.sample = "7 bytes";
  plan.damage = {2, "cut"};
  for (int i = 0; i < 20; ++i)
    plan.index.pictures.push_back({.pts = 40 * i - 80,
                                   .duration = 40,
                                   .digest = ~std::uint64_t{0} - static_cast<unsigned>(i),
                                   .key = i % 5 == 0,
                                   .kept = i >= 3 && i < 17});
  plan.index.repeat_state.assign(20, RepeatState::independent);
  for (const int i : {8, 9, 10})
    plan.index.repeat_state[static_cast<std::size_t>(i)] = RepeatState::repeats;
  return plan;
}

TEST(Plans, SurviveWritingAndParsing) {
  const std::optional<JobPlan> back = parse_plan(to_text(sample()));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, sample());
  EXPECT_EQ(back->index.pictures, sample().index.pictures);
  EXPECT_EQ(back->index.repeat_state, sample().index.repeat_state);
  EXPECT_EQ(back->facts[0].value, "100% \n\xff");
}

TEST(Plans, HoldTheSideInputs) {
  JobPlan plan = sample();
  FrameIndex index = plan.index;
  index.repeat_state.assign(index.pictures.size(), RepeatState::unknown);
  plan.additional = {{"--guide", "/a b/g.mkv", "9 bytes", index},
                     {"--feature albedo", "/a.%04d.exr", "", {.no_seek_reason = "a reason"}}};
  const std::optional<JobPlan> back = parse_plan(to_text(plan));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, plan);
  EXPECT_EQ(back->index, plan.index);
  ASSERT_TRUE(back->find_additional("--guide"));
  EXPECT_EQ(back->find_additional("--guide")->index, index);
  EXPECT_EQ(back->find_additional("--guide")->input, "/a b/g.mkv");
  EXPECT_EQ(back->find_additional("--feature albedo")->index.no_seek_reason, "a reason");
  EXPECT_FALSE(back->find_additional("--feature depth"));
}

/// Keyframes are at 0, 5, 10 and 15; frames 3 to 16 are selected.
TEST(Plans, FindFramesInDecodingAndSelectionOrder) {
  FrameIndex index = sample().index;
  EXPECT_EQ(index.frames_before(0, true), 0);
  EXPECT_EQ(index.frames_before(12, true), 12);
  EXPECT_EQ(index.frames_before(12, false), 9);
  EXPECT_EQ(index.frames_before(20, false), 14);
  EXPECT_EQ(index.seek_point_at(12, true), 10);
  EXPECT_EQ(index.seek_point_at(9, false), 10);  // picture 12
  EXPECT_EQ(index.seek_point_at(0, false), 0);
  EXPECT_EQ(index.seek_point_at(100, true), 15);
  EXPECT_EQ(index.seek_point_at(100, false), 15);
  index.no_seek_reason = "a reason";
  EXPECT_EQ(index.seek_point_at(12, true), 0);
  EXPECT_EQ(FrameIndex{}.seek_point_at(3, true), 0);
}

TEST(Plans, AreRejectedAfterAnyChange) {
  const std::string text = to_text(sample());
  for (std::size_t i = 0; i < text.size(); i += 3) {
    EXPECT_FALSE(parse_plan(text.substr(0, i))) << i;
    std::string changed = text;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_FALSE(parse_plan(changed)) << i;
  }
}

TEST(Plans, CountTheSelectedFrames) {
  const JobPlan plan = sample();
  EXPECT_EQ(plan.frames(), 14);
  EXPECT_EQ(plan.segments(), 4);
  EXPECT_EQ(plan.frames_of(3).first, 12);
  EXPECT_EQ(plan.frames_of(3).last, 13);
  EXPECT_EQ(plan.index.picture_of(0), 3);
  EXPECT_EQ(plan.index.picture_of(13), 16);
  EXPECT_EQ(plan.index.picture_of(14), 20);
}

TEST(Plans, BeginAtAKeyframeBeforeTheMargin) {
  FrameIndex index = sample().index;
  EXPECT_EQ(index.start_with_margin(9, 0), 10);   // picture 12
  EXPECT_EQ(index.start_with_margin(13, 0), 15);  // picture 16
  EXPECT_EQ(index.start_with_margin(13, 2), 10);  // frames 13, 14 and 15 precede it
  EXPECT_EQ(index.start_with_margin(9, 2),
            5);  // frames 11, 7 and 6 are the preceding frames that are not repeats
  EXPECT_EQ(index.start_with_margin(0, 2), 0);
  index.no_seek_reason = "of a reason";
  EXPECT_EQ(index.start_with_margin(13, 0), 0);
}

TEST(Plans, MayBeRewrittenButNotReplaced) {
  const TemporaryFolder folder;
  write_plan(folder / "job", sample());
  write_plan(folder / "job", sample());
  EXPECT_EQ(read_plan(folder / "job"), sample());
  JobPlan other = sample();
  other.facts[0].value = "2";
  EXPECT_THROW(write_plan(folder / "job", other), CannotCreate);
  EXPECT_THROW((void)read_plan(folder / "none"), NoInput);
  write_file(folder / "job/plan", {'x'});
  EXPECT_THROW((void)read_plan(folder / "job"), BadData);
}

TEST(Plans, ListTheUnfinishedSegments) {
  const TemporaryFolder folder;
  const std::string path = folder.path().string();
  const JobPlan plan = sample();
  EXPECT_EQ(find_unfinished(path, plan, {}).text(), "segments 0-3 are missing");
  for (const int i : {0, 2, 3}) {
    SegmentWriter writer(segment_path(path, i), plan.id());
    (void)writer.finish(i == 3 ? 2 : 4);
  }
  EXPECT_EQ(find_unfinished(path, plan, {}).text(), "segment 1 is missing");
  EXPECT_TRUE(find_unfinished(path, plan, {2, 3}).none());
  (void)SegmentWriter(segment_path(path, 2), plan.id()).finish(3);             // too short
  (void)SegmentWriter(segment_path(path, 3), std::string(64, 'a')).finish(2);  // of another job
  EXPECT_EQ(find_unfinished(path, plan, {}).text(),
            "segment 1 is missing, segments 2-3 are damaged");
  EXPECT_THROW((void)find_unfinished(path, plan, {4, 4}), InvalidArgument);
}

// ".." behind a link is the parent of the target of the link.
TEST(Plans, NameFilesBesideTheTargetOfALink) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "deep/target");
  std::filesystem::create_directory_symlink(folder / "deep/target", folder / "link");
  make_clip(folder / "deep/in.mkv", {});
  const std::string in = folder / "link/../in.mkv";
  SourceOptions reading;
  reading.recorded_index = std::make_shared<FrameIndex>();
  const auto source = open_source(in, reading);
  const auto plan = std::make_shared<JobPlan>();
  SinkOptions options;
  options.segments.emplace();
  options.segments->frames = 4;
  options.segments->part = JobPart::plan;
  options.segments->folder = folder / "job";
  options.segments->plan = plan;
  options.segments->input = in;
  const auto sink = open_sink(folder / "link/.././out.mkv", *source, options);
  while (auto frame = source->read()) sink->write(*std::move(frame));
  sink->finish();
  EXPECT_TRUE(std::filesystem::equivalent(plan->input, folder / "deep/in.mkv"));
  EXPECT_TRUE(std::filesystem::equivalent(std::filesystem::path(plan->output).parent_path(),
                                          folder / "deep"));
}

/// A clip that contains only keyframes, its index, and a source for it.
struct Indexes : ::testing::Test {
  Indexes() {
    ClipSpec spec;
    spec.frames = 12;
    spec.encoder_options = {{"g", "1"}};
    make_clip(in, spec);
    SourceOptions options;
    options.recorded_index = index;
    const auto source = open_source(in, options);
    while (source->read()) continue;
  }
  std::unique_ptr<MediaSource> open(std::int64_t begin) const {
    SourceOptions options;
    options.index = index;
    options.start_picture = begin;
    options.tolerate_damage = true;
    return open_source(in, options);
  }
  TemporaryFolder folder;
  const std::string in = folder / "in.mkv";
  std::shared_ptr<FrameIndex> index = std::make_shared<FrameIndex>();
};

TEST_F(Indexes, SeekToEveryPicture) {
  ASSERT_EQ(index->pictures.size(), 12u);
  const Decoded whole = decode(in);
  for (int begin = 0; begin < 12; ++begin) {
    const auto source = open(begin);
    for (int i = begin; i < 12; ++i) {
      const auto frame = source->read();
      ASSERT_TRUE(frame) << begin << " " << i;
      EXPECT_EQ(frame->slice, i);
      EXPECT_EQ(frame->pts, index->pictures[static_cast<std::size_t>(i)].pts);
      for (int y = 0; y < frame->format.height; ++y)
        ASSERT_TRUE(std::equal(frame->planes[0].row(y), frame->planes[0].row(y) + 64,
                               reinterpret_cast<const std::byte*>(
                                   whole.pictures[static_cast<std::size_t>(i)].bytes.data()) +
                                   64 * y));
    }
    EXPECT_FALSE(source->read());
    if (begin > 0) {
      EXPECT_LE(source->decoded(), 12 - begin + 2);
    }
  }
}

void rotate(const std::string& path) {
  TIFF* file = TIFFOpen(path.c_str(), "r+");
  ASSERT_NE(file, nullptr);
  TIFFSetField(file, TIFFTAG_ORIENTATION, ORIENTATION_RIGHTTOP);
  TIFFRewriteDirectory(file);
  TIFFClose(file);
}

// libtiff reads the files of a sequence by their names. The orientation comes from the metadata of
// each file, and not from the decoder.
TEST_F(Indexes, SeekToEveryFileOfASequence) {
  ClipSpec spec;
  spec.frames = 6;
  spec.format = AV_PIX_FMT_GRAY8;
  make_clip(folder / "grey.mkv", spec);
  for (const std::string extension : {"tif", "png"}) {
    SCOPED_TRACE(extension);
    const std::string pattern = folder / ("in%d." + extension);
    ASSERT_EQ(transcode(folder / "grey.mkv", pattern), 6);
    if (extension == "tif")
      for (int i = 0; i < 6; ++i) rotate(folder / ("in" + std::to_string(i) + ".tif"));
    SourceOptions options;
    const auto pictures = std::make_shared<FrameIndex>();
    options.recorded_index = pictures;
    const auto whole = open_source(pattern, options);
    while (whole->read()) continue;
    for (const FrameMark& mark : pictures->pictures) EXPECT_TRUE(mark.key);
    options.recorded_index.reset();
    options.index = pictures;
    for (int begin = 1; begin < 6; ++begin) {
      options.start_picture = begin;
      const auto source = open_source(pattern, options);
      for (int i = begin; i < 6; ++i) {
        const auto frame = source->read();
        ASSERT_TRUE(frame) << begin << " " << i;
        EXPECT_EQ(frame->slice, i);
      }
      EXPECT_FALSE(source->read());
      EXPECT_EQ(source->decoded(), 1 + 6 - begin);
    }
  }
}

TEST_F(Indexes, DetectChangedPictures) {
  index->pictures[5].digest ^= 1;
  EXPECT_THROW((void)open(5)->read(), IndexMismatch);
  const auto source = open(4);
  EXPECT_TRUE(source->read());
  EXPECT_THROW((void)source->read(), IndexMismatch);
  // When reading starts at the first frame, everything is decoded as without an index, so only
  // timestamps can reveal a change.
  const auto first = open(0);
  for (int i = 0; i < 12; ++i) EXPECT_TRUE(first->read());
  index->pictures[3].pts += 1;
  const auto other = open(0);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(other->read());
  EXPECT_THROW((void)other->read(), IndexMismatch);
}

}  // namespace
}  // namespace lull::io::test
