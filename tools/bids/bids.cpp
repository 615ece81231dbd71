#include "tools/bids/bids.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "core/error.h"
#include "io/access.h"
#include "io/media.h"
#include "io/text_file.h"
#include "tools/bids/dataset.h"
#include "tools/bids/derivative.h"
#include "tools/commands/commands.h"
#include "tools/noise/noise_record.h"
#include "tools/noise/noise_text.h"
#include "tools/options/run_files.h"
#include "tools/report/exit_code.h"
#include "tools/report/log.h"
#include "tools/report/signals.h"
#include "tools/search/noise_search.h"
#include "tools/search/volume_noise_search.h"
#include "tools/sessions/noise_choice.h"

namespace lull::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::pair<bm3d::Profile, const char*> profile_texts[] = {
    {bm3d::Profile::fast, "fast"},
    {bm3d::Profile::balanced, "balanced"},
    {bm3d::Profile::high, "high"},
    {bm3d::Profile::best, "best"},
    {bm3d::Profile::paper, "paper"}};

constexpr const char* gradients[] = {".bval", ".bvec"};

/// A text file that belongs to an image, under the name that it gets beside the result.
struct Companion {
  std::string path, text;
  io::Access access;
};

/// Denoises images one by one, and keeps count.
class Participants {
 public:
  explicit Participants(const BidsOptions& options) : options_(options), raw_(options.dataset) {}

  int run() {
    const std::vector<std::string> subjects = chosen();
    refuse_log_places();
    create_derivative(raw_, options_.output);
    // Also between the images: reading and the estimation of noise take time, too.
    const SignalWatch signals([this](int signal) {
      say(LogLevel::error, "stopped by signal " + std::to_string(signal));
    });
    for (const std::string& subject : subjects) {
      const int before = images_;
      for (const BidsImage& image : raw_.images_of(subject)) {
        if (!wanted(image)) continue;
        ++images_;
        const int code = try_denoise(image);
        if (code >= 128) return code;
        if (signals.signal() != 0) return stopped(signals.signal());
        if (code == 0) continue;
        ++failed_;
        // Another try is worth it only if it is for all.
        if (code_ == 0 || code_ == exit_code(ErrorKind::try_again)) code_ = code;
      }
      if (images_ == before) say(LogLevel::warning, "sub-" + subject + " has no image to denoise");
    }
    summarise();
    return code_;
  }

 private:
  std::vector<std::string> chosen() const {
    std::vector<std::string> subjects;
    for (const std::string& given : options_.labels) {
      const std::string label = given.starts_with("sub-") ? given.substr(4) : given;
      if (std::ranges::find(raw_.subjects(), label) == raw_.subjects().end())
        throw NoInput("no participant '" + label + "' in '" + raw_.root() + "' (no folder sub-" +
                      label + "); give the label of one");
      if (std::ranges::find(subjects, label) == subjects.end()) subjects.push_back(label);
    }
    return subjects.empty() ? raw_.subjects() : subjects;
  }

  int stopped(int signal) const {
    say(LogLevel::error, "stopped by signal " + std::to_string(signal));
    return 128 + signal;
  }

  bool wanted(const BidsImage& image) const {
    const auto& suffixes = options_.suffixes;
    return suffixes.empty() || std::ranges::find(suffixes, image.suffix) != suffixes.end();
  }

  // (While lull denoise runs, the log is its own.)
  void say(LogLevel level, const std::string& text) const {
    Log(options_.denoise.log, options_.denoise.quiet).write(level, text);
  }

  /// The exit code. What fails is told, and does not stop the others.
  int try_denoise(const BidsImage& image) {
    try {
      return denoised(image);
    } catch (...) {
      const Failure failure = current_failure();
      say(LogLevel::error, image.path + ": " + failure.text);
      return failure.code;
    }
  }

  int denoised(const BidsImage& image) {
    const std::string folder = options_.output + "/" + image.folder;
    const std::string json = folder + "/" + image.derived_name(".json");
    std::error_code code;
    // The JSON file comes last: an image without one is of a process that was killed.
    const std::string output = folder + "/" + image.derived_name(image.extension);
    const bool whole = fs::exists(json, code) && fs::exists(output, code);
    if (whole && !options_.denoise.overwrite) {
      ++done_before_;
      if (has_other_settings(json)) ++with_other_settings_;
      return 0;
    }
    // What is wrong with the files beside the image shows before the work.
    DenoiseOptions options = options_.denoise;
    options.input = raw_.root() + "/" + image.path;
    options.output = output;
    options.overwrite = true;
    options.follow_links = false;
    require_regular(options.input);
    const std::vector<Companion> companions = companions_of(image, folder);
    Json metadata = raw_.metadata_of(image);
    std::vector<std::string> sources = raw_.files_for(image, ".json");
    sources.push_back(options.input);
    note_links(sources);
    fs::create_directories(folder, code);
    if (code) throw CannotCreate("cannot create '" + folder + "' (" + code.message() + ")");
    refuse_links(folder, {output, json});
    const BidsProcessing processing = processing_of(options);
    const int result = denoise(options);
    if (result != 0) return result;
    for (const Companion& companion : companions)
      io::write_text(companion.path, companion.text, written_as(companion.access));
    io::write_text(json, json_lines(sidecar_of(std::move(metadata), image, processing)),
                   written_as(io::access_of(sources)));
    return 0;
  }

  static io::TextFileOptions written_as(const io::Access& access) {
    return {.overwrite = true, .access = access, .follow_links = false};
  }

  static void require_regular(const std::string& input) {
    std::error_code code;
    if (fs::exists(input, code) && !fs::is_regular_file(input, code))
      throw NoInput("cannot read '" + input + "' (it is not a regular file); give a volume");
  }

  /// Links lead to files that -y was not meant for.
  void refuse_links(const std::string& folder, std::vector<std::string> files) const {
    if (options_.denoise.overwrite) return;
    for (const char* extension : gradients)
      files.push_back(fs::path(files.back()).replace_extension(extension).string());
    std::error_code code;
    const bool leads_out = !is_inside(fs::canonical(folder, code).string(),
                                      fs::canonical(options_.output, code).string());
    for (const std::string& file : files)
      if (fs::is_symlink(file, code) || (leads_out && fs::exists(file, code)))
        throw CannotCreate("'" + file + "' is a link, or lies behind one (another file would be " +
                           "overwritten); remove the link, or give -y");
  }

  /// Of a dataset from others: a link may lead to any file that this user may read.
  void note_links(const std::vector<std::string>& files) {
    for (const std::string& file : files)
      if (const std::string place = raw_.place_outside(file); !place.empty() && links_++ == 0)
        say(LogLevel::warning, "'" + file + "' leads out of the dataset, to '" + place + "'");
  }

  /// Whether a sidecar tells of other settings than those that are asked for now.
  bool has_other_settings(const std::string& sidecar) const {
    const DenoiseOptions& wanted = options_.denoise;
    try {
      const Json told = read_json(sidecar);
      if (told.at("DenoisingProfile") != text_of(wanted.profile) ||
          told.at("DenoisingStrength") != static_cast<double>(wanted.strength) ||
          told.at("NoiseSigmaOrigin") != (wanted.sigma ? "stated" : "estimated"))
        return true;
      return wanted.sigma && told.at("NoiseSigma") != static_cast<double>(wanted.sigma->front());
    } catch (const std::exception&) {
      return true;  // nobody can tell
    }
  }

  static std::string text_of(bm3d::Profile profile) {
    for (const auto& [one, text] : profile_texts)
      if (one == profile) return std::string(text);
    return {};
  }

  /// Finds the noise, for the sidecar and for what denoises.
  static BidsProcessing processing_of(DenoiseOptions& options) {
    const auto source = io::open_source(options.input, source_options(options));
    BidsProcessing processing{.method = is_volume(options, source->info()) ? "BM4D" : "BM3D",
                              .profile = text_of(options.profile),
                              .noise = "Gaussian",
                              .stated = options.sigma.has_value(),
                              .strength = static_cast<double>(options.strength)};
    NoiseRecord noise;
    if (options.sigma) {
      noise = stated_noise(options, source->format(), source->info().values).value();
      determine_noise_kind(options, *source, noise);
    } else {
      noise = search_noise(options, *source);
    }
    const SceneNoise& found = noise.scenes.front();
    const double unit = noise.unit > 0 ? noise.unit : 1;
    processing.sigma =
        unit * static_cast<double>(found.volume ? found.volume->level : found.estimate.level[0]);
    const NoiseKind kind =
        options.noise_kind.value_or(found.volume ? found.volume->noise.kind : NoiseKind::gaussian);
    if (kind == NoiseKind::rician) processing.noise = "Rician";
    if (options.sigma) processing.sigma = static_cast<double>(options.sigma->front());
    if (!options.sigma) options.known_noise = std::make_shared<NoiseRecord>(std::move(noise));
    return processing;
  }

  /// lull denoise copies those that lie beside the image; others belong to it, too.
  std::vector<Companion> companions_of(const BidsImage& image, const std::string& folder) {
    constexpr std::size_t most = std::size_t{1} << 26;
    std::vector<Companion> companions;
    for (const char* extension : gradients) {
      const std::string from = raw_.companion_of(image, extension);
      if (from.empty()) continue;
      note_links({from});
      companions.push_back({folder + "/" + image.derived_name(extension), io::read_text(from, most),
                            io::access_of({from})});
    }
    return companions;
  }

  /// The log must not be a file of the dataset, or of the derivative.
  void refuse_log_places() const {
    if (options_.denoise.log.file.empty()) return;
    RunFiles files;
    files.write("--log-file", options_.denoise.log.file);
    files.read("the dataset", raw_.root() + "/dataset_description.json");
    for (const std::string& subject : raw_.subjects())
      for (const BidsImage& image : raw_.images_of(subject)) {
        files.read("the dataset", raw_.root() + "/" + image.path);
        for (const char* extension : {".json", ".bval", ".bvec"}) {
          for (const std::string& file : raw_.files_for(image, extension))
            files.read("the dataset", file);
          files.read("the derivative",
                     options_.output + "/" + image.folder + "/" + image.derived_name(extension));
        }
        files.read("the derivative", options_.output + "/" + image.folder + "/" +
                                         image.derived_name(image.extension));
      }
    files.check();
  }

  void summarise() const {
    std::string text = options_.output + ": " + std::to_string(images_ - failed_) + " of " +
                       std::to_string(images_) + " images denoised";
    if (done_before_ > 0) text += ", " + std::to_string(done_before_) + " of them before";
    if (failed_ > 0) text += ", " + std::to_string(failed_) + " failed";
    if (links_ > 1)
      say(LogLevel::warning,
          std::to_string(links_) + " files of the dataset are links that lead out of it");
    if (with_other_settings_ > 0)
      say(LogLevel::warning, std::to_string(with_other_settings_) +
                                 " of these were made before with another profile, strength or "
                                 "sigma; -y makes them anew");
    say(failed_ > 0 ? LogLevel::error : LogLevel::info, text);
  }

  const BidsOptions& options_;
  BidsDataset raw_;
  int images_ = 0, failed_ = 0, done_before_ = 0, with_other_settings_ = 0, links_ = 0, code_ = 0;
};

}  // namespace

std::vector<OptionRow> bids_option_rows() {
  constexpr std::string_view groups[] = {"Noise", "Method", "Devices"};
  // What images have no use for.
  constexpr std::string_view others[] = {"--sigma-scale", "--temporal",   "--temporal-window",
                                         "--place-bonus", "--interlaced", "--scene-cut",
                                         "--hwaccel",     "--batch"};
  constexpr std::string_view more[] = {"-y,--overwrite", "-q,--quiet", "--method",
                                       "--datatype",     "--cube",     "--mu2-mean",
                                       "--log-level",    "--log-file", "--fallback"};
  std::vector<OptionRow> rows;
  for (OptionRow row : denoise_option_table()) {
    const bool in = std::ranges::find(groups, row.group) != std::end(groups) ||
                    std::ranges::find(more, row.names) != std::end(more);
    if (!in || std::ranges::find(others, row.names) != std::end(others)) continue;
    if (row.names == "--noise") {
      row.value = "gaussian|rician|auto";
      row.help =
          "the kind of the noise: rician, that of magnitudes, gaussian, or auto, Rician where the "
          "background says so (default: auto)";
    }
    if (row.names == "-y,--overwrite") row.help = row.brief = "denoise again what is done already";
    rows.push_back(row);
  }
  return rows;
}

int bids(const BidsOptions& options) {
  if (options.level != "participant")
    throw InvalidArgument("level '" + options.level +
                          "' (images are denoised one by one, so there is only participant); "
                          "give participant");
  if (!options.denoise.noise_file.empty())
    throw InvalidArgument("--noise " + options.denoise.noise_file +
                          " (must be gaussian, rician or auto); the level is found in each image");
  for (const std::string& suffix : options.suffixes) require_image_suffix(suffix);
  return Participants(options).run();
}

}  // namespace lull::tools
