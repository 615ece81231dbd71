#include "c/src/parameters.h"

#include <algorithm>
#include <array>
#include <utility>

#include "c/src/support.h"

namespace lull::c {
namespace {

// The names of all parameters. All other options of the command `lull` concern files, the terminal,
// or inputs that sessions of the C interface do not have; tests/c/parameters_test.cpp lists them.
constexpr std::string_view names[] = {
    "method",        "profile",       "preset",          "device",
    "sigma",         "noise",         "strength",        "temporal",
    "scene-cut",     "bits",          "dither",          "streams",
    "threads",       "fallback",      "window",          "group",
    "step",          "tau",           "transform",       "group-transform",
    "kaiser",        "lambda",        "lambda-mean",     "mu2",
    "guide-noise",   "search-step",   "near-window",     "near-temporal-window",
    "second-search", "phases",        "temporal-window", "place-bonus",
    "batch",         "matcher",       "cluster",         "patch-radius",
    "search-radius", "nlm-h",         "weights",         "cube",
    "mu2-mean",      "constant-areas"};

constexpr const char* methods[] = {"auto", "bm3d", "bm4d", "nlm"};
constexpr const char* profiles[] = {"fast", "balanced", "high", "best", "paper"};

/// Returns the long name in "-s,--sigma", without dashes.
std::string_view long_name(std::string_view option) {
  const std::size_t at = option.rfind("--");
  return at == option.npos ? std::string_view{} : option.substr(at + 2);
}

void set_parameter(lull_params& params, const std::string& name, const std::string& value) {
  const tools::OptionRow* row = find_parameter(name);
  if (row == nullptr)
    throw InvalidArgument("the parameter '" + name +
                          "' (there is none of this name); lull_get_parameter() lists them");
  try {
    tools::DenoiseOptions changed = params.options;  // a refused value must not change the original
    tools::set_option(changed, *row, value);
    if (!changed.noise.file.empty() || changed.noise.photons)
      throw InvalidArgument("noise " + value +
                            " (must be gaussian, rician or auto); pass an estimate to "
                            "lull_params_set_noise()");
    params.options = std::move(changed);
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(in_own_words(error.what()));
  }
}

}  // namespace

std::span<const std::string_view> parameter_names() { return names; }

const tools::OptionRow* find_parameter(std::string_view name) {
  if (std::ranges::find(names, name) == std::end(names)) return nullptr;
  for (const tools::OptionRow& row : tools::denoise_option_table())
    if (long_name(row.names) == name) return &row;
  return nullptr;
}

std::span<const char* const> method_names() { return methods; }

std::span<const char* const> profiles_of(std::string_view method) {
  if (std::ranges::find(methods, method) == std::end(methods)) return {};
  const std::span<const char* const> all = profiles;
  return method == "bm4d" ? all.first(all.size() - 1) : all;  // bm4d has no profile paper
}

std::string in_own_words(std::string text) {
  constexpr std::string_view advice = "see lull denoise --help-all";
  if (const std::size_t at = text.find(advice); at != text.npos)
    text.replace(at, advice.size(), "lull_get_parameter() describes it");
  for (std::size_t at = 0; (at = text.find("--", at)) != text.npos;)
    if (at == 0 || text[at - 1] == ' ' || text[at - 1] == '(')
      text.erase(at, 2);
    else
      at += 2;
  return text;
}

}  // namespace lull::c

using namespace lull::c;

const char* lull_method_name(std::size_t index) {
  return index < method_names().size() ? method_names()[index] : nullptr;
}

const char* lull_profile_name(const char* method, std::size_t index) {
  if (method == nullptr) return nullptr;
  const auto found = profiles_of(method);
  return index < found.size() ? found[index] : nullptr;
}

lull_status lull_get_parameter(std::size_t index, lull_parameter_info* info) {
  return guarded([&] {
    if (index >= parameter_names().size()) return LULL_NONE;
    const std::string_view name = parameter_names()[index];
    const lull::tools::OptionRow& row = *find_parameter(name);
    // (All these texts are literals, which end with a NUL.)
    write_struct(
        info, {.size = 0, .name = name.data(), .values = row.value.data(), .help = row.help.data()},
        "info");
    return LULL_OK;
  });
}

lull_status lull_params_new(lull_params** params) {
  return guarded([&] {
    checked(params, "params") = nullptr;
    *params = new lull_params;
    return LULL_OK;
  });
}

lull_status lull_params_set(lull_params* params, const char* name, const char* value) {
  return guarded([&] {
    set_parameter(checked(params, "params"), &checked(name, "name"), value ? value : "");
    return LULL_OK;
  });
}

lull_status lull_params_set_noise(lull_params* params, const lull_noise* noise) {
  return guarded([&] {
    checked(params, "params").noise = checked(noise, "noise").found;
    return LULL_OK;
  });
}

void lull_params_free(lull_params* params) { delete params; }
