// Errors of the C interface: a status and one line of text for every invalid call.

#include <array>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "c/support.h"
#include "core/version.h"

namespace lull {
namespace {

using namespace lull::test_support;

constexpr int width = 40, height = 36;
const FrameFormat grey{.width = width, .height = height};

/// Returns the status of opening a session.
lull_status opened(const lull_format& format, const Settings& settings) {
  lull_session* session = nullptr;
  const Params params = make_c_params(settings);
  const lull_status status = lull_session_open(&format, params.get(), nullptr, &session);
  EXPECT_EQ(session == nullptr, status != LULL_OK);
  lull_session_close(session);
  return status;
}

void expect_text(const char* part) {
  const std::string text = lull_last_error();
  EXPECT_NE(text.find(part), text.npos) << text;
  EXPECT_EQ(text.find('\n'), text.npos) << text;
}

TEST(CErrors, NullArgumentsAreRefusedByEveryFunction) {
  const lull_format format = c_format(width, height);
  const Params params = make_c_params({{"sigma", "15"}});
  const Session session = open_c_session(format, {{"sigma", "15"}});
  const Frame samples = noisy_frame(grey);
  const lull_frame frame = c_frame(samples);
  lull_estimator* opened_estimator = nullptr;
  ASSERT_EQ(lull_estimator_open(&format, nullptr, &opened_estimator), LULL_OK);
  const Estimator estimator(opened_estimator);
  lull_estimator* other_estimator = nullptr;
  lull_session* other = nullptr;
  lull_noise* noise = nullptr;
  lull_frame result = frame;
  const lull_status calls[] = {lull_get_parameter(0, nullptr),
                               lull_get_device(0, nullptr),
                               lull_params_new(nullptr),
                               lull_params_set(nullptr, "sigma", "1"),
                               lull_params_set(params.get(), nullptr, "1"),
                               lull_params_set(params.get(), "sigma", nullptr),
                               lull_params_set_noise(params.get(), nullptr),
                               lull_params_set_noise(nullptr, nullptr),
                               lull_estimator_open(nullptr, nullptr, &other_estimator),
                               lull_estimator_open(&format, nullptr, nullptr),
                               lull_estimator_add(estimator.get(), nullptr),
                               lull_estimator_add(nullptr, &frame),
                               lull_estimator_find(estimator.get(), nullptr),
                               lull_estimator_find(nullptr, &noise),
                               lull_noise_get(nullptr, nullptr),
                               lull_session_open(nullptr, params.get(), nullptr, &other),
                               lull_session_open(&format, nullptr, nullptr, &other),
                               lull_session_open(&format, params.get(), nullptr, nullptr),
                               lull_session_format(session.get(), nullptr),
                               lull_session_format(nullptr, nullptr),
                               lull_session_get(session.get(), nullptr),
                               lull_session_get(nullptr, nullptr),
                               lull_push(session.get(), nullptr),
                               lull_push(nullptr, &frame),
                               lull_next(session.get(), nullptr),
                               lull_next(nullptr, &result),
                               lull_drain(session.get(), nullptr),
                               lull_drain(nullptr, &result),
                               lull_cancel(nullptr)};
  for (std::size_t i = 0; i < std::size(calls); ++i)
    EXPECT_EQ(calls[i], LULL_INVALID_ARGUMENT) << "call " << i;
  EXPECT_EQ(lull_profile_name(nullptr, 0), nullptr);
  EXPECT_STREQ(lull_session_error(nullptr), "");
  lull_params_free(nullptr);
  lull_noise_free(nullptr);
  lull_estimator_close(nullptr);
  lull_session_close(nullptr);
}

TEST(CErrors, TextsNameTheProblemAndBelongToTheThread) {
  EXPECT_EQ(opened(c_format(width, height), {}), LULL_INVALID_ARGUMENT);
  expect_text("no noise level");
  std::thread([] { EXPECT_STREQ(lull_last_error(), ""); }).join();
  expect_text("no noise level");
  const Params params = make_c_params({});
  EXPECT_EQ(lull_params_set(params.get(), "sgima", "3"), LULL_INVALID_ARGUMENT);
  expect_text("sgima");
  EXPECT_EQ(lull_params_set(params.get(), "profile", "fats"), LULL_INVALID_ARGUMENT);
  expect_text("fast");
  EXPECT_EQ(std::string(lull_last_error()).find("--"), std::string::npos)
      << "parameters have no dashes";
  EXPECT_EQ(lull_params_set(params.get(), "noise", "estimate.json"), LULL_INVALID_ARGUMENT);
  expect_text("lull_params_set_noise");
  for (const char* photons : {"poisson", "poisson:2:0:1.5"}) {
    EXPECT_EQ(lull_params_set(params.get(), "noise", photons), LULL_INVALID_ARGUMENT);
    expect_text("must be gaussian, rician or auto");
  }
}

TEST(CErrors, ASessionKeepsTheTextOfItsLastFailedCall) {
  const Session session = open_c_session(c_format(width, height), {{"sigma", "15"}});
  EXPECT_STREQ(lull_session_error(session.get()), "");
  EXPECT_EQ(lull_next(session.get(), nullptr), LULL_INVALID_ARGUMENT);
  EXPECT_NE(std::string(lull_session_error(session.get())).find("result"), std::string::npos);
  EXPECT_EQ(opened(c_format(0, height), {{"sigma", "15"}}), LULL_INVALID_ARGUMENT);
  EXPECT_NE(std::string(lull_session_error(session.get())).find("result"), std::string::npos)
      << "errors of other objects do not change it";
}

TEST(CErrors, StatusesHaveNames) {
  for (lull_status status = LULL_INTERNAL; status <= LULL_NONE; ++status)
    EXPECT_STRNE(lull_status_name(status), "unknown status") << status;
  EXPECT_STREQ(lull_status_name(2), "unknown status");
  EXPECT_STREQ(lull_status_name(LULL_INTERNAL - 1), "unknown status");
  EXPECT_STREQ(lull_version(), version);
}

TEST(CErrors, FormatsThatNoFrameCanHaveAreRefused) {
  const auto refused = [](auto change) {
    lull_format format = c_format(width, height);
    change(format);
    EXPECT_EQ(opened(format, {{"sigma", "15"}}), LULL_INVALID_ARGUMENT);
  };
  refused([](lull_format& f) { f.width = 0; });
  refused([](lull_format& f) { f.height = -1; });
  refused([](lull_format& f) { f.width = f.height = 1 << 30; });
  refused([](lull_format& f) { f.layout = 3; });
  refused([](lull_format& f) { f.sample = -1; });
  refused([](lull_format& f) { f.bits = 10; });
  refused([](lull_format& f) { f.sample = LULL_U16, f.bits = 17; });
  refused([](lull_format& f) { f.shift_x = 1; });
  refused([](lull_format& f) { f.layout = LULL_YUV, f.shift_y = 9; });
  refused([](lull_format& f) { f.white = 2; });
  refused([](lull_format& f) { f.sample = LULL_F32, f.white = -1; });
  refused([](lull_format& f) { f.content = 3; });
  refused([](lull_format& f) { f.frames = -1; });
}

TEST(CErrors, ParametersThatContradictEachOtherAreRefused) {
  const lull_format picture = c_format(width, height);
  for (const Settings& settings :
       {Settings{{"sigma", "15"}, {"method", "bm4d"}},  // for volumes
        {{"sigma", "15"}, {"cube", "4"}},
        {{"sigma", "15"}, {"method", "bm3d"}, {"matcher", "window"}, {"cluster", "64:48:2"}},
        {{"sigma", "15"}, {"method", "nlm"}, {"window", "21"}},
        {{"sigma", "15"}, {"patch-radius", "2"}},  // without nlm
        {{"sigma", "15"}, {"method", "bm3d"}, {"cube", "4"}},
        {{"sigma", "15"}, {"window", "4"}},
        {{"sigma", "15"}, {"noise", "rician"}}}) {
    EXPECT_EQ(opened(picture, settings), LULL_INVALID_ARGUMENT) << lull_last_error();
    EXPECT_EQ(std::string(lull_last_error()).find("--"), std::string::npos) << lull_last_error();
  }
}

/// Calls `use` with a structure of each kind, its size, and a function that passes it to the
/// library.
template <class Use>
void for_each_struct(Use use) {
  const Session session = open_c_session(c_format(width, height), {{"sigma", "15"}});
  const Params params = make_c_params({{"sigma", "15"}});
  const Frame samples = noisy_frame(grey);
  use(lull_parameter_info{}, [](auto& info) { return lull_get_parameter(0, &info); });
  use(lull_device_info{}, [](auto& info) { return lull_get_device(0, &info); });
  use(c_format(width, height), [&](auto& format) {
    lull_session* opened = nullptr;
    const lull_status status = lull_session_open(&format, params.get(), nullptr, &opened);
    lull_session_close(opened);
    return status;
  });
  use(c_frame(samples), [&](auto& frame) { return lull_push(session.get(), &frame); });
  use(lull_session_options{}, [&](auto& options) {
    const lull_format format = c_format(width, height);
    lull_session* opened = nullptr;
    const lull_status status = lull_session_open(&format, params.get(), &options, &opened);
    lull_session_close(opened);
    return status;
  });
  use(lull_session_info{}, [&](auto& info) { return lull_session_get(session.get(), &info); });
  use(lull_format{}, [&](auto& format) { return lull_session_format(session.get(), &format); });
}

TEST(CErrors, StructuresOfUnknownSizeAreRefused) {
  for_each_struct([](auto given, auto pass) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{8}, sizeof(given) - 1,
                                   std::size_t{1} << 20, ~std::size_t{0}}) {
      given.size = size;
      EXPECT_EQ(pass(given), LULL_INVALID_ARGUMENT) << size;
    }
    given.size = sizeof(given);
    EXPECT_EQ(pass(given), LULL_OK) << lull_last_error();
  });
}

/// A structure as in a later version of the header.
template <class Struct>
struct Later : Struct {
  std::int64_t member = 0;
};

TEST(CErrors, StructuresOfALaterVersionAreReadUnlessTheyUseNewMembers) {
  const Params params = make_c_params({{"sigma", "15"}});
  Later<lull_format> format{c_format(width, height)};
  format.size = sizeof(format);
  lull_session* session = nullptr;
  EXPECT_EQ(lull_session_open(&format, params.get(), nullptr, &session), LULL_OK);
  lull_session_close(session);
  format.member = 1;
  EXPECT_EQ(lull_session_open(&format, params.get(), nullptr, &session), LULL_UNSUPPORTED);
  expect_text("later");
  Later<lull_device_info> info{};
  info.size = sizeof(info);
  info.member = 7;
  EXPECT_EQ(lull_get_device(0, &info), LULL_OK);
  EXPECT_EQ(info.member, 7) << "members that the library does not know are not written";
  EXPECT_EQ(info.size, sizeof(info));
}

TEST(CErrors, UnusableFramesLeaveTheSessionAsItWas) {
  const Session session = open_c_session(c_format(width, height), {{"sigma", "15"}});
  const Frame noisy = noisy_frame(grey);
  const auto refused = [&](lull_status status, auto change) {
    lull_frame frame = c_frame(noisy);
    change(frame);
    EXPECT_EQ(lull_push(session.get(), &frame), status) << lull_last_error();
    lull_frame result = c_frame(noisy);
    change(result);
    EXPECT_EQ(lull_next(session.get(), &result), status) << lull_last_error();
  };
  refused(LULL_INVALID_ARGUMENT, [](lull_frame& f) { f.planes[0].data = nullptr; });
  refused(LULL_INVALID_ARGUMENT, [](lull_frame& f) { f.planes[0].row_stride = 0; });
  refused(LULL_INVALID_ARGUMENT, [](lull_frame& f) { f.planes[0].row_stride = PTRDIFF_MIN; });
  refused(LULL_INVALID_ARGUMENT, [](lull_frame& f) { f.memory = 3; });
  refused(LULL_INVALID_ARGUMENT, [](lull_frame& f) { f.memory = LULL_CUDA, f.device = -1; });
  EXPECT_FALSE(same_samples(denoised_in_c(noisy, session), noisy)) << "the session goes on";
  const Session volume =
      open_c_session(c_format(width, height, LULL_GREY, LULL_U8, LULL_VOLUME), {{"sigma", "15"}});
  lull_frame slice = c_frame(noisy);
  slice.is_numbered = 1;
  slice.number = -1;
  EXPECT_EQ(lull_push(volume.get(), &slice), LULL_INVALID_ARGUMENT);
  slice.is_numbered = 2;
  EXPECT_EQ(lull_push(volume.get(), &slice), LULL_INVALID_ARGUMENT);
}

TEST(CErrors, FramesBetweenTheResultsOfDrainAreRefused) {
  const Session session = open_c_session(c_format(width, height, LULL_GREY, LULL_U8, LULL_CLIP),
                                         {{"sigma", "15"}, {"temporal", "1"}, {"profile", "fast"}});
  const Frame noisy = noisy_frame(grey), clean = make_frame(grey);
  const lull_frame frame = c_frame(noisy);
  lull_frame result = c_frame(clean);
  ASSERT_EQ(lull_push(session.get(), &frame), LULL_OK);
  ASSERT_EQ(lull_push(session.get(), &frame), LULL_OK);
  ASSERT_EQ(lull_drain(session.get(), &result), LULL_OK);
  EXPECT_EQ(lull_push(session.get(), &frame), LULL_INVALID_ARGUMENT);
  while (lull_drain(session.get(), &result) == LULL_OK) {
  }
  EXPECT_EQ(lull_push(session.get(), &frame), LULL_OK);
}

TEST(CCancel, StopsASessionFromAnotherThread) {
  const Session session = open_c_session(c_format(width, height), {{"sigma", "15"}});
  const Frame noisy = noisy_frame(grey);
  const lull_frame frame = c_frame(noisy);
  const Frame clean = make_frame(grey);
  lull_frame result = c_frame(clean);
  ASSERT_EQ(lull_push(session.get(), &frame), LULL_OK);
  std::thread([&] { EXPECT_EQ(lull_cancel(session.get()), LULL_OK); }).join();
  EXPECT_EQ(lull_next(session.get(), &result), LULL_CANCELLED);
  EXPECT_EQ(lull_drain(session.get(), &result), LULL_CANCELLED);
  EXPECT_EQ(lull_push(session.get(), &frame), LULL_CANCELLED);
  expect_text("cancelled");
}

struct Seen {
  std::vector<std::array<std::uint64_t, 2>> calls;
  std::size_t stop_at = 100;
};

std::int32_t note_progress(std::uint64_t pushed, std::uint64_t finished, void* user) {
  auto& seen = *static_cast<Seen*>(user);
  seen.calls.push_back({pushed, finished});
  return seen.calls.size() == seen.stop_at ? 1 : 0;
}

TEST(CProgress, IsReportedAfterEachFrameAndMayCancel) {
  Seen seen;
  lull_session_options options{};
  options.size = sizeof(options);
  options.progress = note_progress;
  options.user = &seen;
  const lull_format clip = c_format(width, height, LULL_GREY, LULL_U8, LULL_CLIP);
  const Settings settings{{"sigma", "15"}, {"temporal", "1"}, {"profile", "fast"}};
  const Session session = open_c_session(clip, settings, &options);
  const Frame noisy[] = {noisy_frame(grey, 1), noisy_frame(grey, 2), noisy_frame(grey, 3),
                         noisy_frame(grey, 4)};
  const Frame memory = make_frame(grey);
  lull_frame result = c_frame(memory);
  const auto run = [&] {
    for (const Frame& one : noisy) {
      const lull_frame frame = c_frame(one);
      if (const lull_status status = lull_push(session.get(), &frame); status != LULL_OK)
        return status;
    }
    lull_status status = LULL_OK;
    while (status == LULL_OK) status = lull_drain(session.get(), &result);
    return status;
  };
  EXPECT_EQ(run(), LULL_NONE);
  ASSERT_EQ(seen.calls.size(), std::size(noisy));
  for (std::size_t i = 0; i < seen.calls.size(); ++i) EXPECT_EQ(seen.calls[i][1], i + 1);
  EXPECT_EQ(seen.calls.back()[0], std::size(noisy));
  seen = {.calls = {}, .stop_at = 2};
  EXPECT_EQ(run(), LULL_CANCELLED);
  EXPECT_EQ(seen.calls.size(), 2u);
}

TEST(CLog, ReceivesMessagesUntilItIsRemoved) {
  std::vector<std::string> lines;
  const auto add = [](std::int32_t level, const char* text, void* user) {
    EXPECT_TRUE(level == LULL_LOG_INFO || level == LULL_LOG_WARNING);
    static_cast<std::vector<std::string>*>(user)->emplace_back(text);
  };
  ASSERT_EQ(lull_set_log(add, &lines), LULL_OK);
  (void)open_c_session(c_format(width, height), {{"sigma", "15"}, {"device", "auto"}});
  EXPECT_FALSE(lines.empty()) << "it says which device auto has chosen";
  ASSERT_EQ(lull_set_log(nullptr, nullptr), LULL_OK);
  const std::size_t count = lines.size();
  (void)open_c_session(c_format(width, height), {{"sigma", "15"}, {"device", "auto"}});
  EXPECT_EQ(lines.size(), count);
}

}  // namespace
}  // namespace lull
