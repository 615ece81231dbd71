// Fuzzes the lines of a job's plan. The target appends the checksum that makes the lines valid.

#include <string>

#include "fuzz/fuzz.h"
#include "io/jobs.h"
#include "io/segments/job_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lull::io;
  const std::string text(reinterpret_cast<const char*>(data), size);
  (void)parse_plan(text);
  const std::optional<JobPlan> plan = parse_plan(with_checksum(text));
  if (!plan) return 0;
  // A plan that was parsed must be equal after writing and parsing it again.
  const std::string written = to_text(*plan);
  const std::optional<JobPlan> again = parse_plan(written);
  if (!again || to_text(*again) != written)
    throw std::logic_error("a plan changes when it is written");
  (void)plan->segments();
  (void)plan->index.start_with_margin(plan->frames() / 2, 3);
  return 0;
}
