#include "tools/volumes/gradients.h"

#include <cmath>
#include <filesystem>
#include <sstream>

#include "core/error.h"
#include "io/text_file.h"
#include "tools/options/run_files.h"

namespace lull::tools {

std::vector<double> b_values_of(const std::string& series, std::size_t volumes) {
  constexpr std::size_t max_bytes = std::size_t{1} << 20;
  const std::string file = with_extension(series, ".bval");
  std::error_code ignored;
  if (file.empty() || !std::filesystem::is_regular_file(file, ignored)) return {};
  std::vector<double> values;
  try {
    std::istringstream text(io::read_text(file, max_bytes));
    for (double value = 0; text >> value;) values.push_back(value);
    if (!text.eof()) return {};
  } catch (const Error&) {
    return {};
  }
  return values.size() == volumes ? values : std::vector<double>{};
}

std::vector<int> unweighted_volumes(const std::vector<double>& b_values) {
  constexpr double max_b = 50;
  std::vector<int> volumes;
  for (std::size_t v = 0; v < b_values.size(); ++v)
    if (std::abs(b_values[v]) <= max_b) volumes.push_back(static_cast<int>(v));
  return volumes;
}

}  // namespace lull::tools
