// Tests jobs in segments: after any interruption they end with the same bytes as an uninterrupted
// job.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <functional>
#include <random>

#include "core/error.h"
#include "io/segments/manifest.h"
#include "io/support/segment_jobs.h"

namespace lull::io::test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Segments : ::testing::Test {
  Segments() { make_clip(folder / "in.mkv", varied()); }
  std::string file(const std::string& name) const { return folder / ("out.mkv.lull-job/" + name); }
  TemporaryFolder folder;
};

TEST_F(Segments, LosslessSegmentsKeepTheFrames) {
  Job job = job_in(folder);
  job.sink.lossless = true;
  (void)run(job, false, 20);
  (void)run(job, true);
  const Decoded in = decode(job.in), out = decode(job.out);
  ASSERT_EQ(out.pictures.size(), in.pictures.size());
  for (std::size_t i = 0; i < in.pictures.size(); ++i)
    EXPECT_EQ(out.pictures[i].bytes, in.pictures[i].bytes) << i;
}

TEST_F(Segments, SelectionEqualsTheUninterruptedFile) {
  Job job = job_in(folder);
  job.source.selection.ranges = {{2, 9}, {12, 25}};
  const std::vector<std::uint8_t> expected = whole(job);
  (void)run(job, false, 14);
  (void)run(job, true);
  EXPECT_EQ(read_file(job.out), expected);
  const auto source = open_source(job.in, job.source);
  const auto sink = open_sink(folder / "plain.mkv", *source, {});
  while (auto frame = source->read()) sink->write(*std::move(frame));
  sink->finish();
  const auto plain = read_packets(folder / "plain.mkv"), parts = read_packets(job.out);
  ASSERT_EQ(parts.size(), plain.size());
  for (std::size_t i = 1; i < plain.size(); ++i) EXPECT_EQ(parts[i].packets, plain[i].packets);
}

TEST_F(Segments, SequenceEqualsTheUninterruptedFile) {
  for (int i = 0; i < 9; ++i) {
    ClipSpec picture = png_spec();
    picture.width = 32;
    make_clip(folder / ("in." + std::to_string(i) + ".png"), picture);
  }
  Job job = job_in(folder);
  job.in = folder / "in.%d.png";
  job.sink.vcodec = "ffv1";
  job.sink.segments->frames = 4;
  const std::vector<std::uint8_t> expected = whole(job);
  (void)run(job, false, 5);
  (void)run(job, true);
  EXPECT_EQ(read_file(job.out), expected);
}

// The segments have fewer frames than an encoder delays for reordering.
TEST_F(Segments, MayBeShorterThanTheEncoderDelay) {
  for (const char* encoder : {"libx264", "libx265", "libvpx-vp9", "ffv1"})
    for (const char* out : {"out.mkv", "out.nut"}) {
      ClipSpec spec = varied();
      spec.frames = 9;
      spec.pts.resize(9);
      spec.audio.clear();
      spec.subtitles.clear();
      make_clip(folder / "in.mkv", spec);
      Job job = job_in(folder, out);
      job.sink.vcodec = encoder;
      job.sink.segments->frames = 2;
      job.sink.keep_times = true;
      if (!has_encoder(encoder)) continue;
      SCOPED_TRACE(encoder);
      const std::vector<std::uint8_t> expected = whole(job);
      (void)run(job, false, 4);
      (void)run(job, true);
      EXPECT_EQ(read_file(job.out), expected);
      std::vector<std::int64_t> times;
      std::int64_t last = INT64_MIN;
      const std::vector<StreamRecord> streams = read_packets(job.out);
      for (const PacketRecord& packet : streams[0].packets) {
        times.push_back(packet.pts_us / 1000);
        EXPECT_LE(packet.dts_us, packet.pts_us);
        if (packet.dts_us == AV_NOPTS_VALUE) continue;
        EXPECT_GT(packet.dts_us, last);
        last = packet.dts_us;
      }
      std::ranges::sort(times);
      EXPECT_EQ(times, spec.pts);
      fs::remove(job.out);
      fs::remove(folder / (std::string("whole") + fs::path(out).extension().string()));
    }
}

TEST_F(Segments, OnlyMissingSegmentsAreRequested) {
  Job job = job_in(folder);
  (void)run(job, false, 20);
  fs::remove(file("000001.lullseg"));
  job.sink.segments->resume = true;
  const auto source = open_source(job.in, job.source);
  const auto sink = open_sink(job.out, *source, job.sink);
  const std::vector<FrameRange> wanted = sink->needed_frames();
  ASSERT_EQ(wanted.size(), 2u);
  EXPECT_EQ(wanted[0].first, 6);
  EXPECT_EQ(wanted[0].last, 11);
  EXPECT_EQ(wanted[1].first, 18);
  EXPECT_EQ(wanted[1].last, FrameRange{}.last);
}

TEST_F(Segments, DamagedSegmentsAreRepeated) {
  const Job job = job_in(folder);
  const std::vector<std::uint8_t> expected = whole(job);
  std::mt19937 random(3);
  for (int round = 0; round < 6; ++round) {
    (void)run(job, false, 25);
    std::vector<std::uint8_t> bytes = read_file(file("000002.lullseg"));
    if (round == 0) {
      bytes.clear();
    } else if (round == 1) {
      bytes.pop_back();
    } else {
      bytes[random() % bytes.size()] ^= static_cast<std::uint8_t>(1 + random() % 255);
    }
    write_file(file("000002.lullseg"), bytes);
    if (round == 5) fs::remove(file("000000.lullseg"));
    const std::string which = round == 5 ? "0, 2" : "2";
    EXPECT_THAT(run(job, true), ElementsAre("segments made again (damaged or missing): " + which,
                                            HasSubstr("continuing after")));
    EXPECT_EQ(read_file(job.out), expected);
    fs::remove(job.out);
  }
}

// All segments are encoded, but the process ends before the final file has its name.
TEST_F(Segments, InterruptionBeforeTheRenameCanBeResumed) {
  Job job = job_in(folder);
  const std::vector<std::uint8_t> expected = whole(job);
  const auto refuse = [] { return false; };
  {
    const auto source = open_source(job.in);
    const auto sink = open_sink(job.out, *source, job.sink);
    while (auto frame = source->read()) sink->write(*std::move(frame));
    const std::string kept = sink->finish_if(refuse);  // as for an input that is too damaged
    EXPECT_EQ(read_file(kept), expected);
    EXPECT_FALSE(fs::exists(job.out));
  }
  EXPECT_THAT(run(job, true), ElementsAre("continuing after 5 segments, 29 frames"));
  EXPECT_EQ(read_file(job.out), expected);
}

// The output already has its final name. It must not be treated as a foreign file that is protected
// from overwriting.
TEST_F(Segments, InterruptionAfterTheRenameCanBeResumed) {
  const Job job = job_in(folder);
  (void)run(job, false, 25);
  const fs::path saved = folder / "saved", jobs = folder / "out.mkv.lull-job";
  fs::copy(jobs, saved);
  (void)run(job, true);
  const std::vector<std::uint8_t> expected = read_file(job.out);
  struct stat status;
  ASSERT_EQ(::stat(job.out.c_str(), &status), 0);
  fs::rename(saved, jobs);
  const auto bytes = read_file(file("manifest"));
  std::optional<Manifest> manifest = parse_manifest(std::string(bytes.begin(), bytes.end()));
  EXPECT_THROW((void)run(job, true), CannotCreate);
  manifest->result = {status.st_ino, static_cast<std::uint64_t>(status.st_size),
                      static_cast<std::uint64_t>(status.st_mtim.tv_sec) * 1000000000u +
                          static_cast<std::uint64_t>(status.st_mtim.tv_nsec)};
  const std::string text = to_text(*manifest);
  write_file(file("manifest"), {text.begin(), text.end()});
  (void)run(job, true);
  EXPECT_EQ(read_file(job.out), expected);
  EXPECT_FALSE(fs::exists(jobs));
}

std::string refusal(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST_F(Segments, DifferentJobIsNotResumed) {
  const Job job = job_in(folder);
  (void)run(job, false, 14);
  std::vector<std::pair<std::string, Job>> others;
  const auto other = [&](const std::string& name) -> Job& {
    return others.emplace_back(name, job).second;
  };
  other("--segment-frames was 6 and is 7").sink.segments->frames = 7;
  other("--crf was none and is 20").sink.crf = 20;
  other("--vopts was  and is bf=0").sink.vopts = {{"bf", "0"}};
  other("the encoder was libx264 and is ffv1").sink.lossless = true;
  other("the pixel format was yuv420p and is yuv444p").sink.pix_fmt = "yuv444p";
  other("--sigma was none and is 5").sink.segments->facts = {{"--sigma", "5"}};
  other("the part of the input was all and is 0-20").source.selection.ranges = {{0, 20}};
  other("--rate was 25/1 and is 30/1").source.rate = {30, 1};
  for (const auto& [text, another] : others) {
    EXPECT_THROW((void)run(another, true), InvalidArgument) << text;
    EXPECT_THAT(refusal([&] { (void)run(another, true); }), HasSubstr(text));
  }
  std::vector<std::uint8_t> input = read_file(job.in);
  input[input.size() / 2] ^= 1;
  write_file(job.in, input);
  EXPECT_THAT(refusal([&] { (void)run(job, true); }), HasSubstr("the input was"));
  input[input.size() / 2] ^= 1;
  write_file(job.in, input);
  EXPECT_THAT(run(job, true), ElementsAre("continuing after 2 segments, 12 frames"));
}

TEST_F(Segments, MovedJobCanBeResumed) {
  Job job = job_in(folder);
  const std::vector<std::uint8_t> expected = whole(job);
  (void)run(job, false, 14);
  fs::create_directory(folder / "elsewhere");
  for (const std::string name : {"in.mkv", "out.mkv.lull-job"})
    fs::rename(folder / name, folder / ("elsewhere/" + name));
  job.in = folder / "elsewhere/in.mkv";
  job.out = folder / "elsewhere/out.mkv";
  EXPECT_THAT(run(job, true), ElementsAre("continuing after 2 segments, 12 frames"));
  EXPECT_EQ(read_file(job.out), expected);
}

TEST_F(Segments, FinishedSegmentsAreNotDiscardedByDefault) {
  Job job = job_in(folder);
  const std::vector<std::uint8_t> expected = whole(job);
  (void)run(job, false, 14);
  EXPECT_THROW((void)run(job, false), CannotCreate);
  EXPECT_THAT(refusal([&] { (void)run(job, false); }), HasSubstr("--resume"));
  job.sink.overwrite = true;
  EXPECT_THAT(run(job, false), ElementsAre(HasSubstr("is dropped")));
  EXPECT_EQ(read_file(job.out), expected);
}

TEST_F(Segments, DamagedManifestRestartsTheJob) {
  const Job job = job_in(folder);
  const std::vector<std::uint8_t> expected = whole(job);
  (void)run(job, false, 14);
  std::vector<std::uint8_t> manifest = read_file(file("manifest"));
  manifest[manifest.size() / 2] ^= 4;
  write_file(file("manifest"), manifest);
  EXPECT_THAT(run(job, true), ElementsAre(HasSubstr("is damaged; the job starts again")));
  EXPECT_EQ(read_file(job.out), expected);
}

TEST_F(Segments, SecondProcessIsRejected) {
  Job job = job_in(folder);
  const auto source = open_source(job.in);
  const auto sink = open_sink(job.out, *source, job.sink);
  EXPECT_THAT(refusal([&] { (void)run(job, true); }), HasSubstr("another process is at the job"));
}

TEST_F(Segments, ExistingOutputIsNotReplacedByDefault) {
  const Job job = job_in(folder);
  write_file(job.out, {1, 2, 3});
  EXPECT_THROW((void)run(job, false), CannotCreate);
  EXPECT_THAT(folder.files(), ElementsAre("in.mkv", "out.mkv"));
}

TEST_F(Segments, ForeignFilesAreKept) {
  const Job job = job_in(folder);
  (void)run(job, false, 14);
  write_file(file("mine.txt"), {1});
  write_file(file(".000003.lullseg.lull-1-1.tmp"), {1});
  (void)run(job, true);
  EXPECT_THAT(folder.files(), ElementsAre("in.mkv", "out.mkv", "out.mkv.lull-job"));
  EXPECT_TRUE(fs::exists(file("mine.txt")));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "out.mkv.lull-job"), {}), 1);
}

TEST_F(Segments, LinkedOutputHasItsSegmentsNextToTheTarget) {
  fs::create_directory(folder / "disk");
  fs::create_symlink(folder / "disk/real.mkv", folder / "out.mkv");
  const Job job = job_in(folder);
  (void)run(job, false, 14);
  EXPECT_TRUE(fs::exists(folder / "disk/real.mkv.lull-job/manifest"));
  (void)run(job, true);
  EXPECT_TRUE(fs::is_symlink(folder / "out.mkv"));
  EXPECT_EQ(decode(folder / "disk/real.mkv").pictures.size(), 29u);
}

TEST_F(Segments, LinkWithoutTargetIsRejectedAsJobFolder) {
  fs::create_symlink(folder / "none", folder / "out.mkv.lull-job");
  EXPECT_THROW((void)run(job_in(folder), false), CannotCreate);
  EXPECT_THAT(folder.files(), ElementsAre("in.mkv", "out.mkv.lull-job"));
}

TEST_F(Segments, OutputsWithoutSegmentsAreRejected) {
  for (const std::string out : {"null", "hash", "-"}) {
    Job job = job_in(folder);
    job.out = out;
    EXPECT_THROW((void)run(job, false), InvalidArgument) << out;
  }
  for (const std::string out : {"out.%04d.png", "out.y4m"})
    EXPECT_THROW((void)run(job_in(folder, out), false), InvalidArgument) << out;
  Job one = job_in(folder);
  one.sink.segments->frames = 1;
  EXPECT_THROW((void)run(one, false), InvalidArgument);
  EXPECT_THAT(folder.files(), ElementsAre("in.mkv"));
}

TEST_F(Segments, ErrorBeforeTheFirstSegmentLeavesNoFiles) {
  Job job = job_in(folder);
  job.sink.vopts = {{"no_such_option", "1"}};
  EXPECT_THROW((void)run(job, false), InvalidArgument);
  EXPECT_THAT(folder.files(), ElementsAre("in.mkv"));
}

}  // namespace
}  // namespace lull::io::test
