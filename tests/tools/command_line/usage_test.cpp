// Tests invalid requests and unreadable inputs: the exit code, a one-line reason, and that no file
// is left under the output's name or next to it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr FrameFormat small{.width = 24, .height = 16};

/// A noise level that is too low for lull to search clipped samples. The inputs have clipped
/// samples, and a higher --sigma would add a line about them to standard error.
constexpr const char* weak = "3";

/// A folder with a good clip, a good picture and many kinds of bad ones.
class Usage : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<Folder>();
    const Folder& at = *folder_;
    write_pnm(at / "good.pgm", noisy_picture(clean_picture(small), 20));
    write_y4m(at / "good.y4m", std::vector<Frame>(6, noisy_picture(clean_picture(small), 20)));
    convert(at / "good.y4m", at / "good.mkv", {.lossless = true});
    convert(at / "good.pgm", at / "good.png", {});
    write_bytes(at / "empty.mkv", "");
    write_bytes(at / "text.mkv", "Call me Ishmael. Some years ago, never mind how long precisely");
    write_bytes(at / "zeros.png", std::string(5000, '\0'));
    write_sound(at / "sound.mkv");
    const std::string clip = bytes_of(at / "good.mkv"), picture = bytes_of(at / "good.png");
    write_bytes(at / "cut.mkv", clip.substr(0, clip.size() / 2));
    write_bytes(at / "cut.png", picture.substr(0, picture.size() / 2));
    write_bytes(at / "cut.y4m", bytes_of(at / "good.y4m").substr(0, 1000));
    write_bytes(at / "cut.pgm", bytes_of(at / "good.pgm").substr(0, 200));
    write_bytes(at / "there.mkv", "precious");
    std::filesystem::create_symlink(at / "good.mkv", at / "link.mkv");
    std::filesystem::create_directory(at / "folder.mkv");
  }
  static void TearDownTestSuite() { folder_.reset(); }

  static std::string path(const std::string& name) { return *folder_ / name; }

  void expect(const std::vector<std::string>& arguments, int code, const std::string& part) {
    const std::vector<std::string> before = folder_->names();
    const Outcome outcome = run_lull(arguments);
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
    EXPECT_THAT(outcome.err, StartsWith("lull: "));
    EXPECT_THAT(outcome.err, HasSubstr(part));
    EXPECT_EQ(folder_->names(), before);
    EXPECT_EQ(bytes_of(path("there.mkv")), "precious");
  }

  /// Runs lull denoise from good.mkv to new.mkv with the arguments `more`.
  void expect_denoise(const std::vector<std::string>& more, int code, const std::string& part) {
    std::vector<std::string> arguments{"denoise", "-i", path("good.mkv"), "-o", path("new.mkv")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    SCOPED_TRACE(testing::PrintToString(more));
    expect(arguments, code, part);
  }

  void expect_input(const std::string& name, int code, const std::string& part) {
    SCOPED_TRACE(name);
    expect({"denoise", "-i", path(name), "-o", path("new.mkv"), "--sigma", "20", "--device",
            "reference"},
           code, part);
  }

  static std::unique_ptr<Folder> folder_;
};

std::unique_ptr<Folder> Usage::folder_;

TEST_F(Usage, RejectsUnknownCommands) {
  expect({}, 2, "lull --help");
  expect({"polish"}, 2, "polish");
  expect({"--polish"}, 2, "polish");
  expect({"denoise"}, 2, "-i");
  expect({"denoise", "-i", path("good.mkv")}, 2, "-o");
  expect({"noise", path("none.mkv")}, 66, "none.mkv");
  expect({"noise", path("good.mkv"), "-o", path("good.mkv")}, 2, "it is the input itself");
  expect({"noise", path("good.mkv"), "--plot", path("no/folder.svg")}, 73, "folder.svg");
  expect({"devices", "all"}, 2, "all");
  expect({"compare", path("good.mkv")}, 2, "B");
}

TEST_F(Usage, RejectsInvalidSigma) {
  for (const char* sigma : {"-1", "nan", "inf", "-inf", "1e99", "20x", "", " 20", "0x10", "twenty",
                            "1:2", "1:2:3:4", "1:2:", "1:-2:3", "1:nan:3", ":", "1,5", "-0.0"})
    expect_denoise({"--sigma", sigma}, 2, "sigma");
}

TEST_F(Usage, RejectsInvalidParameters) {
  const auto refuse = [&](const std::string& option, const std::string& value) {
    expect_denoise({"--sigma", "20", option, value}, 2, option.substr(2));
  };
  for (const char* window : {"0", "-3", "4", "129", "39.5", "a", "39:4", "1:3:5"})
    refuse("--window", window);
  for (const char* group : {"0", "3", "64", "16:5", "many"}) refuse("--group", group);
  for (const char* step : {"0", "9", "3:0"}) refuse("--step", step);
  for (const char* tau : {"0", "-5", "nan", "inf", "400:"}) refuse("--tau", tau);
  for (const char* kaiser : {"-1", "21", "nan"}) refuse("--kaiser", kaiser);
  for (const char* transform : {"", "fft", "dct:", "DCT"}) refuse("--transform", transform);
  for (const char* transform : {"dct", "haar:walsh"}) refuse("--group-transform", transform);
  for (const char* lambda : {"-1", "nan", "2.7:1"}) refuse("--lambda", lambda);
  for (const char* mu2 : {"0", "-1", "inf"}) refuse("--mu2", mu2);
  for (const char* phases : {"0", "4", "1:2"}) refuse("--phases", phases);
  for (const char* batch : {"256", "256x", "x128", "8x128", "256x128x3", "-256x128"})
    refuse("--batch", batch);
  for (const char* profile : {"", "finest", "Fast"}) refuse("--profile", profile);
  for (const char* streams : {"0", "17", "two"}) refuse("--streams", streams);
  for (const char* threads : {"-1", "many", "1.5"}) refuse("--threads", threads);
}

TEST_F(Usage, RejectsInvalidDevices) {
  for (const char* device : {"", "gpu", "cuda:", "cuda:a", "cuda:-1", "cuda:0,", "cuda:0,0",
                             "cuda:1,0,1", "cuda0", "cpu:0", "CPU"})
    expect_denoise({"--sigma", "20", "--device", device}, 2, "device");
  expect_denoise({"--sigma", "20", "--device", "cuda:977"}, 69, "GPU");
  if (!missing_device("cuda").empty())
    expect_denoise({"--sigma", "20", "--device", "cuda"}, 69, "GPU");
  for (const char* hwaccel : {"", "auto", "CUDA", "cuda:0", "nvdec"})
    expect_denoise({"--sigma", "20", "--hwaccel", hwaccel}, 2, "hwaccel");
}

TEST_F(Usage, RejectsInvalidEncoderOptions) {
  const auto refuse = [&](std::vector<std::string> more, const std::string& part) {
    more.insert(more.end(), {"--sigma", weak, "--device", "reference"});
    expect_denoise(more, 2, part);
  };
  refuse({"--vcodec", "nonsense"}, "nonsense");
  refuse({"--vcodec", "pcm_s16le"}, "pcm_s16le");
  refuse({"--pix-fmt", "nonsense"}, "nonsense");
  refuse({"--vopts", "nonsense=1"}, "nonsense");
  refuse({"--vopts", "nonsense"}, "nonsense");
  refuse({"--vopts", "=1"}, "vopts");
  refuse({"--vcodec", "ffv1", "--vopts", "level=many"}, "level");
  for (const char* crf : {"nan", "x", "inf", ""}) refuse({"--crf", crf}, "crf");
  refuse({"--crf", "20", "--lossless"}, "lossless");
}

TEST_F(Usage, RejectsUnreadableInputs) {
  expect_input("missing.mkv", 66, "missing.mkv");
  expect_input("folder.mkv", 66, "folder.mkv");
  expect_input("empty.mkv", 65, "empty.mkv");
  expect_input("text.mkv", 65, "text.mkv");
  expect_input("zeros.png", 65, "zeros.png");
  expect_input("sound.mkv", 65, "sound.mkv");
  for (const char* cut : {"cut.png", "cut.pgm"}) expect_input(cut, 65, cut);
}

TEST_F(Usage, RejectsInvalidOutputs) {
  const auto refuse = [&](const std::string& output, int code, const std::string& part,
                          const std::string& input = "good.mkv") {
    SCOPED_TRACE(output);
    expect({"denoise", "-i", path(input), "-o", path(output), "--sigma", weak, "--device",
            "reference"},
           code, part);
  };
  refuse("there.mkv", 73, "-y");
  refuse("missing/new.mkv", 73, "missing/new.mkv");
  refuse("folder.mkv", 73, "folder.mkv");
  refuse("good.mkv", 2, "input");
  refuse("link.mkv", 2, "input");
  refuse("good.mkv", 2, "input", "link.mkv");
  refuse("new", 2, "new");
  refuse("new.nonsense", 2, "new.nonsense");
  // The option -y does not permit an output that is also the input.
  expect({"denoise", "-i", path("good.mkv"), "-o", path("good.mkv"), "--sigma", "20", "-y"}, 2,
         "input");
}

TEST_F(Usage, FullDiskIsAnIoError) {
  const std::vector<std::string> before = folder_->names();
  const Outcome outcome = run_lull({"denoise", "-i", path("good.mkv"), "-o", path("new.mkv"),
                                    "--sigma", weak, "--lossless", "--device", "reference"},
                                   {.file_size_limit = 700});
  EXPECT_EQ(outcome.code, 74) << outcome.err;
  EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
  EXPECT_EQ(folder_->names(), before);
}

TEST_F(Usage, FullStandardOutputIsAnIoError) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--help"},
        {"devices"},
        {"compare", path("good.pgm"), path("good.pgm")}}) {
    const Outcome outcome = run_lull(arguments, {.out_file = "/dev/full"});
    EXPECT_EQ(outcome.code, 74) << arguments.front();
    EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
  }
}

TEST_F(Usage, HelpAndVersionGoToStandardOutput) {
  const Outcome version = run_lull({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_THAT(version.out, testing::StartsWith("lull 0."));
  EXPECT_THAT(version.out, testing::HasSubstr("\ncommit "));
  using Words = std::vector<std::string>;
  for (const auto& [arguments, example] : {std::pair{Words{"--help"}, "lull noisy.mkv clean.mkv"},
                                           {Words{"denoise", "--help"}, "Examples:"},
                                           {Words{"compare", "-h"}, "Examples:"}}) {
    const Outcome help = run_lull(arguments);
    EXPECT_EQ(help.code, 0);
    EXPECT_EQ(help.err, "");
    EXPECT_THAT(help.out, HasSubstr(example));
  }
  const std::string help = run_lull({"denoise", "--help-all"}).out;
  for (const char* option :
       {"--sigma",  "--profile", "--window",    "--group",           "--step",   "--tau",
        "--lambda", "--mu2",     "--transform", "--group-transform", "--kaiser", "--phases",
        "--batch",  "--device",  "--streams",   "--threads",         "--vcodec", "--crf",
        "--vopts",  "--pix-fmt", "--lossless",  "--hwaccel"})
    EXPECT_THAT(help, HasSubstr(option));
}

TEST_F(Usage, DevicesCommandListsDevices) {
  const Outcome devices = run_lull({"devices"});
  EXPECT_EQ(devices.code, 0);
  EXPECT_EQ(devices.err, "");
  EXPECT_THAT(devices.out, testing::ContainsRegex("cpu +[A-Z0-9_]+, [0-9]+ thread"));
  EXPECT_THAT(devices.out, HasSubstr("\nreference"));
  const std::string missing = missing_device("cuda");
  EXPECT_THAT(devices.out, missing.empty() ? HasSubstr("\ncuda:0 ") : HasSubstr("\ncuda "));
}

}  // namespace
}  // namespace lull::tools
