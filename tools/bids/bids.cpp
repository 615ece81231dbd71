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
#include "tools/sessions/memory_need.h"
#include "tools/sessions/noise_choice.h"

namespace lull::tools {
namespace {

namespace fs = std::filesystem;

/// A kind of text file for images: gradients (.bval, .bvec), or the control and label volumes of a
/// perfusion series (aslcontext.tsv).
struct CompanionKind {
  const char* suffix_of_image;  // empty: any
  const char* suffix;           // empty: the suffix of the image
  const char* extension;

  bool belongs_to(const BidsImage& image) const {
    return *suffix_of_image == 0 || image.suffix == suffix_of_image;
  }
  std::string suffix_for(const BidsImage& image) const {
    return *suffix == 0 ? image.suffix : suffix;
  }
};
constexpr CompanionKind companion_kinds[] = {
    {"", "", ".bval"}, {"", "", ".bvec"}, {"asl", "aslcontext", ".tsv"}};

/// Returns the name of the method that filters an image, for the sidecar file.
std::string method_name(const DenoiseOptions& options, const io::VideoInfo& image) {
  if (uses_nlm(options.method)) return "NLM";
  return is_volume(options, image) ? "BM4D" : "BM3D";
}

/// A text file that describes an image. `path` is the name of the copy in the output folder.
struct Companion {
  std::string path, text;
  io::Access access;
};

/// Denoises the images of the chosen participants one by one, and counts the results and failures.
class ParticipantLevel {
 public:
  explicit ParticipantLevel(const BidsOptions& options)
      : options_(options), raw_(options.dataset) {}

  int run() {
    const std::vector<std::string> subjects = chosen_subjects();
    check_log_file();
    create_derivative(raw_, options_.output);
    // `signals` receives signals during the whole run, including the noise estimation.
    const SignalWatch signals([this](int signal) {
      say(LogLevel::error, "stopped by signal " + std::to_string(signal));
    });
    for (const std::string& subject : subjects) {
      const std::optional<std::vector<BidsImage>> images = chosen_images(subject);
      if (!images) continue;
      for (const BidsImage& image : *images) {
        ++images_;
        const int code = try_denoise(image);
        if (code >= 128) return code;
        if (signals.signal() != 0) return stopped(signals.signal());
        if (code != 0) count_failure(code);
      }
      if (images->empty()) say(LogLevel::warning, "sub-" + subject + " has no image to denoise");
    }
    summarise();
    return code_;
  }

 private:
  std::vector<std::string> chosen_subjects() const {
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

  /// Returns the images of a participant that the run denoises. If lull cannot read a folder of the
  /// participant, returns no value and counts one failed image.
  std::optional<std::vector<BidsImage>> chosen_images(const std::string& subject) {
    try {
      std::vector<BidsImage> images = raw_.images_of(subject);
      std::erase_if(images, [this](const BidsImage& image) { return !is_chosen(image); });
      return images;
    } catch (...) {
      const Failure failure = current_failure();
      say(LogLevel::error, "sub-" + subject + ": " + failure.text);
      ++images_;
      count_failure(failure.code);
      return std::nullopt;
    }
  }

  void count_failure(int code) {
    ++failed_;
    // The run returns the exit code "try again" only if every failure has this exit code.
    if (code_ == 0 || code_ == exit_code(ErrorKind::try_again)) code_ = code;
  }

  int stopped(int signal) const {
    say(LogLevel::error, "stopped by signal " + std::to_string(signal));
    return 128 + signal;
  }

  bool is_chosen(const BidsImage& image) const {
    const auto& suffixes = options_.suffixes;
    return suffixes.empty() || std::ranges::find(suffixes, image.suffix) != suffixes.end();
  }

  // Writes a message to the log. say() closes the log file after each message, because denoise()
  // opens the same file.
  void say(LogLevel level, const std::string& text) const {
    Log(options_.denoise.run.log, options_.denoise.run.quiet).write(level, text);
  }

  /// Denoises an image and returns the exit code. After a failure, the run continues with the next
  /// image.
  int try_denoise(const BidsImage& image) {
    try {
      return denoise_image(image);
    } catch (...) {
      const Failure failure = current_failure();
      say(LogLevel::error, image.path + ": " + failure.text);
      return failure.code;
    }
  }

  int denoise_image(const BidsImage& image) {
    const std::string folder = options_.output + "/" + image.folder;
    const std::string json = folder + "/" + image.derived_name(".json");
    std::error_code code;
    // denoise_image() writes the JSON file last, so a result without a JSON file is incomplete.
    const std::string output = folder + "/" + image.derived_name(image.extension);
    const bool is_complete = fs::exists(json, code) && fs::exists(output, code);
    if (is_complete && !options_.denoise.output.overwrite) {
      ++done_before_;
      if (has_other_settings(json)) ++with_other_settings_;
      return 0;
    }
    // denoise_image() reads the companion files before the long computation, to report errors in
    // these files early.
    DenoiseOptions options = options_.denoise;
    options.input.file = raw_.root() + "/" + image.path;
    options.output.file = output;
    options.output.overwrite = true;
    options.output.follow_links = false;
    set_default_max_memory(options.input);  // also for the noise estimation before denoise()
    require_regular(options.input.file);
    const std::vector<Companion> companions = companions_of(image, folder);
    Json metadata = raw_.metadata_of(image);
    std::vector<std::string> sources = raw_.files_for(image, image.suffix, ".json");
    sources.push_back(options.input.file);
    const std::string phase = phase_for(image);
    options.input.phase = phase.empty() ? "" : raw_.root() + "/" + phase;
    if (!phase.empty()) {
      require_regular(options.input.phase);
      sources.push_back(options.input.phase);
    }
    warn_of_links(sources);
    fs::create_directories(folder, code);
    if (code) throw CannotCreate("cannot create '" + folder + "' (" + code.message() + ")");
    std::vector<std::string> results{output, json};
    for (const CompanionKind& kind : companion_kinds)
      if (kind.belongs_to(image))
        results.push_back(folder + "/" +
                          image.derived_name(kind.suffix_for(image), kind.extension));
    refuse_links(folder, results);
    BidsProcessing processing = processing_of(options);
    processing.phase = phase;
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

  /// Without the option -y, throws an error in two cases: one of `files` is a symbolic link, or one
  /// of `files` exists and `folder` resolves to a path outside the derivative. In both cases, the
  /// run might overwrite a file outside the derivative.
  void refuse_links(const std::string& folder, const std::vector<std::string>& files) const {
    if (options_.denoise.output.overwrite) return;
    std::error_code code;
    const bool leads_out = !is_inside(fs::canonical(folder, code).string(),
                                      fs::canonical(options_.output, code).string());
    for (const std::string& file : files)
      if (fs::is_symlink(file, code) || (leads_out && fs::exists(file, code)))
        throw CannotCreate("'" + file +
                           "' is a link, or lies behind one (lull would overwrite another " +
                           "file); remove the link, or give -y");
  }

  /// Returns the path of the phase image that belongs to the magnitude image `image`. Without the
  /// option --phase pairs, the result is empty.
  std::string phase_for(const BidsImage& image) const {
    return options_.denoise.input.phase == "pairs" ? raw_.phase_of(image) : std::string();
  }

  /// Warns of symbolic links to files outside the dataset. A link in an untrusted dataset can point
  /// to any file that the user may read.
  void warn_of_links(const std::vector<std::string>& files) {
    for (const std::string& file : files)
      if (const std::string target = raw_.target_outside(file); !target.empty() && links_++ == 0)
        say(LogLevel::warning, "'" + file + "' leads out of the dataset, to '" + target + "'");
  }

  /// Returns whether the settings in the sidecar file of a result differ from the settings of this
  /// run.
  bool has_other_settings(const std::string& sidecar) const {
    const DenoiseOptions& requested = options_.denoise;
    try {
      const Json recorded = read_json(sidecar);
      if (recorded.at("DenoisingProfile") != name_of(chosen_profile(requested)) ||
          recorded.at("DenoisingStrength") != static_cast<double>(requested.noise.strength) ||
          recorded.at("NoiseSigmaOrigin") != (requested.noise.sigma ? "stated" : "estimated"))
        return true;
      return requested.noise.sigma &&
             recorded.at("NoiseSigma") != static_cast<double>(requested.noise.sigma->front());
    } catch (const std::exception&) {
      return true;  // lull has not written this sidecar file
    }
  }

  /// Stores the estimated noise in `options`, unless the user specifies the noise. Returns the
  /// values for the sidecar file.
  static BidsProcessing processing_of(DenoiseOptions& options) {
    const auto source = io::open_source(options.input.file, source_options(options.input));
    BidsProcessing processing{.method = method_name(options, source->info()),
                              .profile = std::string(name_of(chosen_profile(options))),
                              .noise = "Gaussian",
                              .stated = options.noise.sigma.has_value(),
                              .strength = static_cast<double>(options.noise.strength)};
    NoiseRecord noise;
    if (options.noise.sigma) {
      noise = stated_noise(options, source->format(), source->info()).value();
      determine_noise_kind(options, *source, noise);
    } else {
      noise = search_noise(options, *source).noise;
    }
    const SceneNoise& found = noise.scenes.front();
    if (found.fitted && found.series) processing.components = found.series->components;
    const double unit = noise.unit > 0 ? noise.unit : 1;
    processing.sigma =
        unit * static_cast<double>(found.volume ? found.volume->level : found.estimate.level[0]);
    const NoiseKind kind =
        options.noise.kind.value_or(found.volume ? found.volume->noise.kind : NoiseKind::gaussian);
    if (kind == NoiseKind::rician) processing.noise = "Rician";
    if (options.noise.sigma) processing.sigma = static_cast<double>(options.noise.sigma->front());
    if (!options.noise.sigma) options.noise.known = std::make_shared<NoiseRecord>(std::move(noise));
    return processing;
  }

  /// Returns the text files that the run copies beside the result. The names and folders of these
  /// files can differ from the name and the folder of the image (inheritance principle of BIDS).
  std::vector<Companion> companions_of(const BidsImage& image, const std::string& folder) {
    constexpr std::size_t max_bytes = std::size_t{1} << 26;
    std::vector<Companion> companions;
    for (const CompanionKind& kind : companion_kinds) {
      if (!kind.belongs_to(image)) continue;
      const std::string suffix = kind.suffix_for(image);
      const std::string from = raw_.companion_of(image, suffix, kind.extension);
      if (from.empty()) continue;
      warn_of_links({from});
      companions.push_back({folder + "/" + image.derived_name(suffix, kind.extension),
                            io::read_text(from, max_bytes), io::access_of({from})});
    }
    return companions;
  }

  /// @throws InvalidArgument  the log would overwrite a file of the dataset or of the derivative
  void check_log_file() const {
    if (options_.denoise.run.log.file.empty()) return;
    RunFiles files;
    files.write("--log-file", options_.denoise.run.log.file);
    files.read("the dataset", raw_.root() + "/dataset_description.json");
    for (const std::string& subject : raw_.subjects()) {
      try {
        for (const BidsImage& image : raw_.images_of(subject)) add_files_of(image, files);
      } catch (const NoInput&) {
        continue;  // run() reports folders that cannot be read
      }
    }
    files.check();
  }

  /// Adds the files that lull reads and writes for an image.
  void add_files_of(const BidsImage& image, RunFiles& files) const {
    files.read("the dataset", raw_.root() + "/" + image.path);
    if (const std::string phase = raw_.phase_of(image); !phase.empty())
      files.read("the dataset", raw_.root() + "/" + phase);
    const auto add = [&](const std::string& suffix, const std::string& extension) {
      for (const std::string& file : raw_.files_for(image, suffix, extension))
        files.read("the dataset", file);
      files.read("the derivative", options_.output + "/" + image.folder + "/" +
                                       image.derived_name(suffix, extension));
    };
    add(image.suffix, ".json");
    for (const CompanionKind& kind : companion_kinds) add(kind.suffix_for(image), kind.extension);
    files.read("the derivative",
               options_.output + "/" + image.folder + "/" + image.derived_name(image.extension));
  }

  void summarise() const {
    std::string text = options_.output + ": " + std::to_string(images_ - failed_) + " of " +
                       std::to_string(images_) + " images denoised";
    if (done_before_ > 0) text += ", " + std::to_string(done_before_) + " of them earlier";
    if (failed_ > 0) text += ", " + std::to_string(failed_) + " failed";
    if (links_ > 1)
      say(LogLevel::warning,
          std::to_string(links_) + " files of the dataset are links that lead out of it");
    if (with_other_settings_ > 0)
      say(LogLevel::warning, std::to_string(with_other_settings_) +
                                 " of these were denoised earlier with another profile, "
                                 "strength or sigma; give -y to denoise them again");
    say(failed_ > 0 ? LogLevel::error : LogLevel::info, text);
  }

  const BidsOptions& options_;
  BidsDataset raw_;
  int images_ = 0, failed_ = 0, done_before_ = 0, with_other_settings_ = 0, links_ = 0, code_ = 0;
};

}  // namespace

std::vector<OptionRow> bids_option_rows() {
  std::vector<OptionRow> rows = options_for(in_bids);
  for (OptionRow& row : rows) {
    if (row.names == "--noise") {
      row.value = "gaussian|rician|auto";
      row.help =
          "kind of the noise: gaussian, rician (magnitude images) or auto, which selects rician if "
          "the background has Rician noise (default: auto)";
    }
    if (row.names == "--phase") {
      row.value = "pairs|none";
      row.help =
          "images with part-mag whose phase exists (part-phase): pairs filters the complex "
          "samples, none the magnitudes (default: none)";
    }
    if (row.names == "-y,--overwrite")
      row.help = row.brief = "denoise images again that have a result already";
  }
  return rows;
}

int bids(const BidsOptions& options) {
  if (options.level != "participant")
    throw InvalidArgument("level '" + options.level +
                          "' (lull denoises images one by one, so the only level is participant); "
                          "give participant");
  const NoiseOptions& noise = options.denoise.noise;
  if (!noise.file.empty() || noise.photons)
    throw InvalidArgument(
        "--noise " + (noise.photons ? "poisson" : noise.file) +
        " (must be gaussian, rician or auto); lull estimates the level of each image");
  const std::string& phase = options.denoise.input.phase;
  if (!phase.empty() && phase != "pairs" && phase != "none")
    throw InvalidArgument("--phase " + phase + " (must be pairs or none); leave it out");
  for (const std::string& suffix : options.suffixes) require_image_suffix(suffix);
  return ParticipantLevel(options).run();
}

}  // namespace lull::tools
