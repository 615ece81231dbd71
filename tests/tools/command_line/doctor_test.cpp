// Tests lull --version and lull doctor.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <unistd.h>

#include "core/version.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(Version, StatesCommitLibrariesAndInstructionSets) {
  const Outcome outcome = run_lull({"--version"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, StartsWith("lull " + std::string(version) + "\n"));
  EXPECT_THAT(outcome.out, ContainsRegex("\ncommit (unknown|[0-9a-f]{12}(-dirty)?)\n"));
  EXPECT_THAT(outcome.out, ContainsRegex("\nFFmpeg libavcodec [0-9.]+, "));
  EXPECT_THAT(outcome.out, ContainsRegex("\nCUDA (none|[0-9]+[.][0-9]+)\n"));
  EXPECT_THAT(outcome.out,
              ContainsRegex("\ninstruction sets [A-Za-z0-9_, ]+ \\(this CPU: [A-Z0-9_]+"));
}

TEST(Doctor, TestsTheCpuAndListsEncoders) {
  const Outcome outcome = run_lull({"doctor"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(outcome.out, StartsWith("lull " + std::string(version) + "\n"));
  EXPECT_THAT(outcome.out, ContainsRegex("\ncpu: .* threads, [A-Z0-9_]+: works\n"));
  EXPECT_THAT(outcome.out, ContainsRegex("\nmemory: +[0-9.]+ GiB, available [0-9.]+ GiB\n"));
  EXPECT_THAT(outcome.out, ContainsRegex("\nencoders: .*ffv1"));
  EXPECT_THAT(outcome.out, ContainsRegex("\n(GPU: +none \\(.+\\)|cuda:0: .*)\n"));
}

TEST(Doctor, ContainsNoPersonalData) {
  setenv("LULL_LOG_FILE", "/home/somebody/secret.log", 1);
  const Outcome outcome = run_lull({"doctor"});
  unsetenv("LULL_LOG_FILE");
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  if (std::string(host).size() > 3) EXPECT_THAT(outcome.out, Not(HasSubstr(host)));
  EXPECT_THAT(outcome.out, Not(HasSubstr("/home")));
  EXPECT_THAT(outcome.out, Not(HasSubstr("secret")));
  const passwd* user = getpwuid(getuid());
  if (user && std::string(user->pw_name).size() > 4)
    EXPECT_THAT(outcome.out, Not(HasSubstr(user->pw_name)));
}

}  // namespace
}  // namespace lull::tools
