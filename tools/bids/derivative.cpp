#include "tools/bids/derivative.h"

#include <filesystem>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/version.h"
#include "io/text_file.h"

namespace lull::tools {
namespace {

namespace fs = std::filesystem;

/// Percent-encodes all characters except letters, digits and the characters in `plain` (RFC 3986,
/// section 2).
std::string url_part(const std::string& text, std::string_view plain) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string url;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter || plain.find(c) != std::string_view::npos)
      url += c;
    else
      url += {'%', digits[byte >> 4], digits[byte & 15]};
  }
  return url;
}

/// Returns the file URL of an absolute path (RFC 8089, section 2).
std::string url_of(const std::string& path) { return "file://" + url_part(path, "-._~/"); }

/// Returns the BIDS URI of a source image. Percent-encoding keeps the JSON file valid UTF-8.
std::string bids_uri(const std::string& path) { return "bids:raw:" + url_part(path, "-._~/+"); }

Json description_of(const BidsDataset& raw, const std::string& folder) {
  const Json& raw_description = raw.description();
  const std::string name = raw_description.contains("Name") && raw_description["Name"].is_string()
                               ? raw_description["Name"].get<std::string>()
                               : "";
  std::error_code code;
  const fs::path link = fs::relative(raw.root(), folder, code);
  const std::string raw_path = code || link.empty() ? raw.root() : link.string();
  const std::string raw_link =
      as_utf8(raw_path) == raw_path ? raw_path : url_part(raw_path, "-._~/");
  Json json = {{"Name", "lull: denoised" + (name.empty() ? "" : " " + name)},
               {"BIDSVersion", "1.10.0"},
               {"DatasetType", "derivative"}};
  for (const char* member : {"License", "Authors"})
    if (raw_description.contains(member)) json[member] = raw_description[member];
  json["GeneratedBy"] = Json::array({{{"Name", "lull"},
                                      {"Version", version},
                                      {"Description", "Removes noise with BM4D, BM3D or NLM"}}});
  Json source = {{"URL", url_of(fs::absolute(raw.root(), code).lexically_normal().string())}};
  if (raw_description.contains("DatasetDOI")) source["DOI"] = raw_description["DatasetDOI"];
  json["SourceDatasets"] = Json::array({source});
  json["DatasetLinks"] = {{"raw", raw_link}};
  return json;
}

bool is_generated_by_lull(const std::string& description) {
  const Json json = read_json(description);
  const auto generators = json.find("GeneratedBy");
  if (generators == json.end() || !generators->is_array()) return false;
  for (const Json& program : *generators)
    if (program.is_object() && program.contains("Name") && program["Name"] == "lull") return true;
  return false;
}

constexpr const char* readme =
    "# Denoised by lull\n\n"
    "The images of this dataset are denoised copies of the images of another dataset. The name of\n"
    "each is the name of its source with `desc-denoised`. The JSON file of each image names the\n"
    "source, the noise level (`NoiseSigma`, standard deviation in the units of the image) and the\n"
    "denoising method. The headers of the images are those of the sources, byte for byte. The\n"
    "`bval`, `bvec` and `aslcontext.tsv` files are copies.\n";

// Names of copied files that the BIDS validator must ignore. BIDS does not define these names, but
// other programs expect them.
constexpr const char* ignored_names =
    "*_desc-denoised_dwi.bval\n*_desc-denoised_dwi.bvec\n*_desc-denoised_aslcontext.tsv\n";

/// Writes a file unless the file exists. Another process may write the same file concurrently.
void write_once(const std::string& path, const std::string& text) {
  std::error_code code;
  if (fs::exists(path, code)) return;
  try {
    io::write_text(path, text, {.follow_links = false});
  } catch (const CannotCreate&) {
    if (!fs::exists(path, code)) throw;
  }
}

}  // namespace

Json sidecar_of(Json metadata, const BidsImage& image, const BidsProcessing& processing) {
  Json json = std::move(metadata);
  json["Description"] = "Denoised by lull with " + processing.method;
  json["Sources"] = Json::array({bids_uri(image.path)});
  if (!processing.phase.empty()) json["Sources"].push_back(bids_uri(processing.phase));
  if (!json.contains("SkullStripped")) json["SkullStripped"] = false;
  json["NoiseSigma"] = processing.sigma;
  json["NoiseSigmaUnits"] = "those of the image";
  json["NoiseSigmaOrigin"] = processing.stated ? "stated" : "estimated";
  json["NoiseDistribution"] = processing.noise;
  json["DenoisingMethod"] = processing.method;
  json["DenoisingProfile"] = processing.profile;
  json["DenoisingStrength"] = processing.strength;
  if (processing.components > 0) json["DenoisingSignalComponents"] = processing.components;
  json["DenoisingVersion"] = "lull " + std::string(version);
  return json;
}

void create_derivative(const BidsDataset& raw, const std::string& folder) {
  std::error_code code;
  if (fs::equivalent(raw.root(), folder, code))
    throw InvalidArgument("'" + folder + "' is the dataset itself; give another folder, such as " +
                          folder + "/derivatives/lull");
  fs::create_directories(folder, code);
  if (code) throw CannotCreate("cannot create '" + folder + "' (" + code.message() + ")");
  const std::string description = folder + "/dataset_description.json";
  write_once(description, json_lines(description_of(raw, folder)));
  if (!is_generated_by_lull(description))
    throw CannotCreate("'" + folder + "' holds another dataset (lull did not create it); " +
                       "give an empty folder");
  if (!fs::exists(folder + "/README", code)) write_once(folder + "/README.md", readme);
  write_once(folder + "/.bidsignore", ignored_names);
}

}  // namespace lull::tools
