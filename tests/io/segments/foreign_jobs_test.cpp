// Tests job files that other people have written: their checksums are right, but their contents may
// be nonsense.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "io/jobs.h"
#include "io/segments/job_text.h"
#include "io/segments/manifest.h"
#include "io/segments/segment_file.h"
#include "io/support/segment_jobs.h"

namespace lull::io::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const std::string digest(64, 'a');

void write(const std::string& path, const std::string& text) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

std::string head() {
  return "lull plan 1\ninput /in.mkv\noutput /out.mkv\nsample s\nsegment-frames 4\nthreads 2\n"
         "margin 0\nfact a b\n";
}
std::string frames(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "frame " + std::to_string(40 * i) + " 40 7 k\n";
  return text;
}

class ForeignPlan : public testing::Test {
 protected:
  std::string error_of(const std::string& lines) {
    write(folder / "job/plan", with_checksum(lines));
    try {
      (void)read_plan(folder / "job");
    } catch (const BadData& error) {
      return error.what();
    }
    return "none";
  }
  static std::string without(std::string text, const std::string& line) {
    const std::size_t at = text.find(line);
    return text.erase(at, text.find('\n', at) + 1 - at);
  }
  TemporaryFolder folder;
};

TEST_F(ForeignPlan, ReadsValidPlans) {
  EXPECT_EQ(error_of(head() + frames(9)), "none");
  EXPECT_EQ(error_of(head() + frames(9) + "beside --guide /g.mkv s\n" + frames(9)), "none");
}

TEST_F(ForeignPlan, RejectsContradictions) {
  EXPECT_THAT(error_of(head()), HasSubstr("it has no frames"));
  EXPECT_THAT(error_of(head() + "frame 0 40 7 ko\n"), HasSubstr("it has no frames"));
  EXPECT_THAT(error_of(without(head(), "input") + frames(9)), HasSubstr("no input"));
  EXPECT_THAT(error_of(without(head(), "output") + frames(9)), HasSubstr("no output"));
  EXPECT_THAT(error_of(without(head(), "sample") + frames(9)), HasSubstr("identify the input"));
  EXPECT_THAT(error_of(without(head(), "fact") + frames(9)), HasSubstr("no facts"));
  EXPECT_THAT(error_of(without(head(), "input") + "input in.mkv\n" + frames(9)),
              HasSubstr("no input"));
  EXPECT_THAT(error_of(without(head(), "output") + "output hash\n" + frames(9)),
              HasSubstr("no output"));
  EXPECT_THAT(error_of(head() + "fact --segment-frames 5\n" + frames(9)), HasSubstr("two lengths"));
  EXPECT_THAT(error_of(head() + frames(9) + "beside --guide /g.mkv s\n" + frames(3)),
              HasSubstr("--guide has fewer frames"));
  EXPECT_THAT(error_of(head() + frames(9) + "beside --guide g.mkv s\n" + frames(9)),
              HasSubstr("no path from the root"));
}

TEST_F(ForeignPlan, RejectsNumbersOutOfRange) {
  for (const std::string line :
       {"threads 2000000000", "margin 2147483647", "damage 9000000000000000000 x",
        "frame 9000000000000000000 40 7 k", "frame -9000000000000000000 40 7 k",
        "frame 0 9000000000000000000 7 k", "frame 0 -1 7 k", "segment-frames 0", "input /a%00b"})
    EXPECT_THAT(error_of(head() + frames(9) + line + "\n"), HasSubstr("cannot be used")) << line;
}

TEST_F(ForeignPlan, NewerFormatIsReported) {
  std::string newer = head() + frames(9);
  newer.replace(newer.find('1'), 1, "3");
  EXPECT_THAT(error_of(newer), HasSubstr("it has format 3, this version of lull reads up to"));
  EXPECT_EQ(format_number("lull plan 12\nrest", "plan"), 12);
  for (const char* text : {"", "lull plan", "lull plan x\n", "lull plan -1\n", "lull job 1\n"})
    EXPECT_EQ(format_number(text, "plan"), 0) << text;
}

TEST_F(ForeignPlan, PipesAreReportedAsNoInput) {
  fs::create_directories(folder / "job");
  ASSERT_EQ(::mkfifo((folder / "job/plan").c_str(), 0600), 0);
  EXPECT_THROW((void)read_plan(folder / "job"), NoInput);
  EXPECT_THROW((void)read_job(folder / "job"), NoInput);
  fs::remove(folder / "job/plan");
  fs::create_symlink("/dev/zero", folder / "job/plan");
  EXPECT_THROW((void)read_plan(folder / "job"), NoInput);
}

// Ten times as many segments take ten times as long. A search of quadratic time, which compares
// each frame with each segment, would take a hundred times as long.
TEST_F(ForeignPlan, ManySegmentsAreReadInLinearTime) {
  const auto time_of = [this](int count) {
    const std::string text =
        without(head(), "segment-frames") + "segment-frames 1\n" + frames(count);
    write(folder / "job/plan", with_checksum(text));
    const std::clock_t start = std::clock();
    EXPECT_EQ(read_job(folder / "job").segments.size(), static_cast<std::size_t>(count));
    return std::clock() - start;
  };
  EXPECT_LT(time_of(200'000), 40 * std::max<std::clock_t>(time_of(20'000), CLOCKS_PER_SEC / 100));
}

class ForeignManifest : public testing::Test {
 protected:
  std::optional<Manifest> parse(const std::string& lines) {
    return parse_manifest(with_checksum("lull job 1\n" + lines));
  }
  TemporaryFolder folder;
};

TEST_F(ForeignManifest, RejectsNumbersOutOfRange) {
  EXPECT_TRUE(parse("segment 0 250 1000 " + digest + "\n"));
  EXPECT_TRUE(parse("segment 2147483647 250 1000 " + digest + "\n"));
  for (const std::string& line :
       {"segment 2147483648 250 1000 " + digest, "segment 9223372036854775807 250 1000 " + digest,
        "segment 0 9223372036854775807 1000 " + digest, "segment 0 0 1000 " + digest,
        "segment 0 250 1000 " + digest.substr(1), "segment 0 250 1000 " + std::string(64, 'g'),
        std::string("threads 1025"), std::string("fact a %00")})
    EXPECT_FALSE(parse(line + "\n")) << line;
  EXPECT_FALSE(parse("segment 0 9 1 " + digest + "\nsegment 0 9 1 " + digest + "\n"));
}

TEST_F(ForeignManifest, LargestSegmentNumberIsAccepted) {
  write(folder / "x.lull-job/manifest",
        with_checksum("lull job 1\nfact --segment-frames 1073741824\nsegment 2147483647 1 1 " +
                      digest + "\n"));
  const JobState state = read_job(folder / "x.lull-job");
  EXPECT_EQ(state.segment_frames, 1 << 30);
  EXPECT_EQ(state.segments.back().frames.first, 2147483647LL << 30);
}

TEST_F(ForeignManifest, NewerFormatIsKept) {
  make_clip(folder / "in.mkv", {});
  const Job job = job_in(folder);
  const std::string manifest = job.out + ".lull-job/manifest";
  write(manifest, with_checksum("lull job 2\n"));
  for (const bool resume : {false, true}) EXPECT_THROW((void)run(job, resume), BadData);
  EXPECT_TRUE(fs::exists(manifest));
  EXPECT_THROW((void)read_job(job.out + ".lull-job"), BadData);
}

TEST_F(ForeignManifest, PipesAreReportedAsNoInput) {
  make_clip(folder / "in.mkv", {});
  const Job job = job_in(folder);
  fs::create_directory(job.out + ".lull-job");
  ASSERT_EQ(::mkfifo((job.out + ".lull-job/manifest").c_str(), 0600), 0);
  for (const bool resume : {false, true}) EXPECT_THROW((void)run(job, resume), NoInput);
  EXPECT_THROW((void)facts_of_interrupted_job(job.out), NoInput);
}

// A link in a job folder could lead to any file of the user who continues the job.
TEST_F(ForeignManifest, LinksAtManifestAndSegmentsAreReplaced) {
  make_clip(folder / "in.mkv", {});
  const Job job = job_in(folder);
  const std::string job_folder = job.out + ".lull-job";
  fs::create_directory(job_folder);
  write(folder / "victim", "precious");
  for (const char* name : {"/manifest", "/000000.lullseg", "/000001.lullseg"})
    fs::create_symlink(folder / "victim", job_folder + name);
  (void)run(job, false, 8);
  EXPECT_EQ(read_file(folder / "victim").size(), 8u);
  EXPECT_FALSE(fs::is_symlink(job_folder + "/manifest"));
  EXPECT_FALSE(fs::is_symlink(job_folder + "/000000.lullseg"));
}

class ForeignSegment : public testing::Test {
 protected:
  void SetUp() override {
    SegmentWriter writer(folder / "a", digest);
    const PacketPtr packet = make_packet();
    ASSERT_EQ(av_new_packet(packet.get(), 1000), 0);
    std::fill_n(packet->data, 1000, std::uint8_t{1});
    writer.write(*packet);
    record = writer.finish(3);
  }
  TemporaryFolder folder;
  SegmentRecord record;
};

TEST_F(ForeignSegment, PipesCountAsDamaged) {
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_FALSE(read_record(folder / "pipe"));
  EXPECT_FALSE(read_unverified_record(folder / "pipe", digest));
  EXPECT_THROW(SegmentReader(folder / "pipe", record), IoError);
}

// The quick check reads only the end of a segment, so that a join reads each segment once.
TEST_F(ForeignSegment, ReaderFindsDamageThatTheQuickCheckCannot) {
  EXPECT_EQ(read_unverified_record(folder / "a", digest), record);
  EXPECT_FALSE(read_unverified_record(folder / "a", std::string(64, 'b')));
  std::vector<std::uint8_t> bytes = read_file(folder / "a");
  bytes[bytes.size() / 2] ^= 1;
  write_file(folder / "a", bytes);
  EXPECT_EQ(read_unverified_record(folder / "a", digest), record);
  EXPECT_FALSE(read_record(folder / "a", digest));
  SegmentReader reader(folder / "a", record);
  EXPECT_TRUE(reader.next());
  EXPECT_THROW((void)reader.next(), IoError);
}

}  // namespace
}  // namespace lull::io::test
