// Tests lull together with other programs: shells, pipes and the ffmpeg command.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

using ::testing::HasSubstr;

bool has_command(const std::string& name) {
  return std::system(("command -v " + name + " >/dev/null 2>&1").c_str()) == 0;
}

/// Runs bash in `folder` with $LULL as the command; a pipeline fails like its last failing part.
Outcome shell(const Folder& folder, const std::string& script) {
  write_bytes(folder / "script", "set -o pipefail; LULL=" LULL_PROGRAM "; cd '" + (folder / "") +
                                     "'\n" + script + "\n");
  const std::string files = " >'" + (folder / "stdout") + "' 2>'" + (folder / "stderr") + "'";
  const int status =
      std::system(("timeout 500 bash '" + (folder / "script") + "'" + files).c_str());
  return {WEXITSTATUS(status), bytes_of(folder / "stdout"), bytes_of(folder / "stderr")};
}

/// Writes the clip and then nothing until the file `code` exists.
const std::string silent_writer = "(cat in.y4m; until [ -e code ]; do sleep 0.05; done) | ";

class Streams : public ::testing::Test {
 protected:
  void SetUp() override {
    std::vector<Frame> clip;
    for (int i = 0; i < 8; ++i)
      clip.push_back(noisy_picture(clean_picture(format, 0.2 * i), 20, i));
    write_y4m(folder_ / "in.y4m", clip);
  }
  static constexpr FrameFormat format{
      .width = 48, .height = 34, .layout = Layout::yuv, .chroma_shift_x = 1, .chroma_shift_y = 1};
  Folder folder_;
};

TEST_F(Streams, PipesGiveTheBytesOfFiles) {
  const std::string same = "--sigma 20 --profile fast --device reference -q";
  const Outcome outcome =
      shell(folder_, "$LULL denoise -i in.y4m -o direct.y4m " + same +
                         "\ncat in.y4m | $LULL denoise -i - -o - " + same + " | cat >piped.y4m");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(bytes_of(folder_ / "direct.y4m"), bytes_of(folder_ / "piped.y4m"));
}

TEST_F(Streams, DropOptionsAccumulate) {
  const std::string run = "$LULL denoise -i in.y4m -o out.mkv --sigma 0 --device reference ";
  const Outcome outcome = shell(folder_, run + "--drop audio --drop data --drop 7");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--drop 7 (the input has the streams 0 to 0)"));
  const Outcome done = shell(folder_, run + "--drop audio --drop data");
  EXPECT_EQ(done.code, 0) << done.err;
}

TEST_F(Streams, WorkBetweenTwoFfmpegProcesses) {
  if (!has_command("ffmpeg")) GTEST_SKIP() << "no command ffmpeg";
  const Outcome outcome = shell(
      folder_,
      "ffmpeg -v error -i in.y4m -f lavfi -i sine=d=0.3 -c:v rawvideo -c:a pcm_s16le -f nut - "
      "| $LULL denoise -i - -o - --sigma 0 --device reference "
      "| ffmpeg -v error -i - -c copy out.nut &&"
      "ffmpeg -v error -i in.y4m -f framehash -hash sha256 a && "
      "ffmpeg -v error -i out.nut -map 0:v -f framehash -hash sha256 b &&"
      "ffmpeg -v error -f lavfi -i sine=d=0.3 -c:a pcm_s16le -f hash - &&"
      "ffmpeg -v error -i out.nut -map 0:a -c copy -f hash -");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto digests = [](const std::string& text) {
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      const std::string line = text.substr(at, end - at);
      if (line[0] != '#') result += line.substr(line.rfind(' '));
      at = end + 1;
    }
    return result;
  };
  EXPECT_EQ(digests(bytes_of(folder_ / "a")), digests(bytes_of(folder_ / "b")));
  const std::size_t half = outcome.out.size() / 2;
  EXPECT_EQ(outcome.out.substr(0, half), outcome.out.substr(half));
}

TEST_F(Streams, ClosedReaderEndsTheRun) {
  // The writer stays silently connected until lull has ended, so only lull itself can end the wait.
  const Outcome outcome =
      shell(folder_, silent_writer +
                         "($LULL denoise -i - -o - --sigma 20 --device reference --temporal 0 -q; "
                         "echo $? >end; mv end code) | head -c 10 >/dev/null");
  EXPECT_EQ(bytes_of(folder_ / "code"), "74\n");
  EXPECT_THAT(outcome.err, HasSubstr("cannot write to standard output (Broken pipe)\n"));
}

TEST_F(Streams, TruncatedPipeIsBadData) {
  const Outcome outcome = shell(folder_,
                                "head -c 10000 in.y4m | $LULL denoise -i - -o - --sigma 20 "
                                "--device reference -q >out.y4m");
  EXPECT_EQ(outcome.code, 65);
  EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("cut short"));
}

TEST_F(Streams, SignalEndsAWaitingRun) {
  // An output frame shows that lull is reading. For the other cases, a wait of one second suffices.
  const Outcome outcome = shell(
      folder_, silent_writer +
                   "($LULL denoise -i - -o null --sigma 20 --device reference --temporal 0 -q "
                   "--progress json --progress-fd 3 3>progress <&0 & pid=$!; "
                   "while kill -0 $pid && ! grep -q '\"progress\"' progress; do sleep 0.05; done; "
                   "sleep 1; kill -TERM $pid; wait $pid; echo $? >end; mv end code)");
  EXPECT_EQ(bytes_of(folder_ / "code"), "143\n") << outcome.err;
}

TEST_F(Streams, RawInputIsRead) {
  const Outcome outcome = shell(folder_,
                                "$LULL denoise -i in.y4m -o - --output-format raw --sigma 0 -q "
                                "| $LULL denoise -i - --raw-format yuv420p --size 48x34 "
                                "--rate 30000/1001 -o out.y4m --sigma 0 -q");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(frames_of(folder_ / "out.y4m").size(), 8u);
  EXPECT_THAT(bytes_of(folder_ / "out.y4m").substr(0, 60), HasSubstr(" F30000:1001 "));
}

TEST_F(Streams, HashOfAFileEqualsThatOfAPipe) {
  const Outcome outcome = shell(folder_,
                                "$LULL denoise -i in.y4m -o hash --sigma 9 -q >a; "
                                "$LULL denoise -i - -o hash --sigma 9 -q <in.y4m >b; cmp a b && "
                                "head -n -1 a | sha256sum | cut -d' ' -f1; tail -n 1 a");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::string digest = outcome.out.substr(0, 64);
  EXPECT_EQ(outcome.out, digest + "\nall 8 " + digest + "\n");
}

TEST_F(Streams, NullWritesNothing) {
  const Outcome outcome = shell(folder_, "$LULL denoise -i in.y4m -o null --sigma 9 && ls -A");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, "in.y4m\nscript\nstderr\nstdout\n");
  EXPECT_THAT(outcome.err, HasSubstr("null: 8 frames in "));
}

TEST_F(Streams, RangesAndTimesSelectEqualFrames) {
  const Outcome outcome = shell(
      folder_,
      "set -e; "
      "$LULL denoise -i in.y4m -o hash --sigma 9 -q --temporal 0 >all.txt; "
      "$LULL denoise -i in.y4m -o hash --sigma 9 -q --temporal 0 --frames 1-2,5- >a.txt; "
      "$LULL denoise -i in.y4m -o hash --sigma 9 -q --temporal 0 --start 0.08 --duration 0:00.08 "
      ">b.txt; "
      "test $(grep -c '^[0-9]' all.txt) = 8; test $(grep -c '^[0-9]' a.txt) = 5; "
      "test $(grep -c '^[0-9]' b.txt) = 2; "
      "cmp <(grep '^[12567] ' all.txt | cut -d' ' -f3) <(grep '^[0-9]' a.txt | cut -d' ' -f3) && "
      "cmp <(grep '^[23] ' all.txt | cut -d' ' -f3) <(grep '^[0-9]' b.txt | cut -d' ' -f3)");
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
}

TEST_F(Streams, PictureSequencesAreWrittenAndRead) {
  const Outcome outcome =
      shell(folder_,
            "$LULL denoise -i in.y4m -o 'f.%03d.png' --sigma 0 -q --pix-fmt rgb24 && "
            "rm f.002.png && $LULL denoise -i f.###.png -o 'g.##.tif' --sigma 5 && ls *.tif");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "g.00.tif\ng.01.tif\ng.03.tif\ng.04.tif\ng.05.tif\ng.06.tif\ng.07.tif\n");
  EXPECT_THAT(outcome.err, HasSubstr("warning: the sequence has no number 2"));
}

TEST_F(Streams, ProbePrintsTextAndJson) {
  const Outcome words = shell(folder_, "$LULL probe in.y4m; $LULL probe - <in.y4m >/dev/null");
  ASSERT_EQ(words.code, 0) << words.err;
  EXPECT_THAT(words.out, HasSubstr("48x34 YUV 4:2:0 8 bits (yuv420p, rawvideo)"));
  EXPECT_THAT(words.out, HasSubstr("stream    0: video rawvideo, 48x34: denoised"));
  EXPECT_EQ(shell(folder_, "$LULL probe none.mkv").code, 66);
  EXPECT_EQ(shell(folder_, "$LULL probe in.y4m -o a.xyz").code, 2);
  if (!has_command(python())) GTEST_SKIP() << "no python3 to read JSON with";
  const Outcome json = shell(
      folder_,
      "cp in.y4m $'na\\\\me \\\"\\t\\xff\\xc3\\xa4.y4m'; "
      "$LULL probe $'na\\\\me \\\"\\t\\xff\\xc3\\xa4.y4m' --json | " +
          python() +
          " -c '"
          "import json,sys; d=json.load(sys.stdin); "
          "print(d[\"input\"].encode(\"unicode_escape\").decode(), d[\"width\"], d[\"bits\"], "
          "d[\"layout\"], "
          "d[\"streams\"][0][\"fate\"])'");
  EXPECT_EQ(json.code, 0) << json.err;
  EXPECT_EQ(json.out, "na\\\\me \"\\t\\ufffd\\xe4.y4m 48 8 yuv denoised\n");
}

TEST_F(Streams, InvalidOptionsAreRejected) {
  const auto expect = [&](std::vector<std::string> more, const char* text) {
    more.insert(more.begin(), {"denoise", "-i", folder_ / "in.y4m", "-o", "null", "--sigma", "5"});
    const Outcome outcome = run_lull(more);
    EXPECT_EQ(outcome.code, 2) << text;
    EXPECT_THAT(outcome.err, HasSubstr(text));
  };
  expect({"--raw-format", "yuv420p"}, "--size");
  expect({"--size", "48x34"}, "--raw-format");
  expect({"--raw-format", "yuv420p", "--size", "48"}, "WIDTHxHEIGHT");
  expect({"--raw-format", "yuv420p", "--size", "48x0"}, "WIDTHxHEIGHT");
  expect({"--raw-format", "yuv", "--size", "48x34"}, "no such pixel format");
  expect({"--rate", "1/0"}, "--rate");
  expect({"--rate", "-5"}, "--rate");
  expect({"--input-format", "lavfi"}, "no such input format");
  for (const char* text :
       {"", "a", "3-1", "1,1", "2-,3", "-3", "1-2-3", "1,", "99999999999999999999"})
    expect({"--frames", text}, "--frames");
  expect({"--frames", "1", "--start", "1"}, "--frames with --start");
  for (const char* text : {"", "-1", "1:60", "1:2:3:4", "1.0000001", "1.", "x"})
    expect({"--start", text}, "--start");
  expect({"--max-pixels", "0"}, "--max-pixels");
  expect({"--allow-protocol", ""}, "--allow-protocol");
}

}  // namespace
}  // namespace lull::tools
