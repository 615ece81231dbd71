// Implements `lull noise`, which writes the noise estimate as text, JSON, plot or noise file.

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/files/output_file.h"
#include "io/text_file.h"
#include "tools/commands/commands.h"
#include "tools/noise/noise_text.h"
#include "tools/options/run_files.h"
#include "tools/repair/repair_choice.h"
#include "tools/search/noise_follower.h"
#include "tools/search/noise_search.h"
#include "tools/search/volume_noise_search.h"
#include "tools/sessions/memory_need.h"

namespace lull::tools {
namespace {

/// Checks and returns the files of the command, before the noise estimation.
/// @throws InvalidArgument  an output would overwrite another file of the command
/// @throws CannotCreate  an output already exists, or lull cannot create it
RunFiles checked_files(const NoiseReportOptions& options) {
  const DenoiseOptions& input = options.input;
  RunFiles files;
  files.read_samples("the input", input.input.file);
  files.read_samples("--phase", input.input.phase);
  files.write("-o", input.output.file);
  files.write("--plot", options.plot);
  files.write("--noise-map", input.noise.map);
  files.check();
  for (const std::string& path : {input.output.file, options.plot, input.noise.map})
    if (!path.empty()) const io::OutputFile trial(path, {.overwrite = input.output.overwrite});
  return files;
}

/// Reads all frames, and stores the noise of all scenes in `noise`.
void follow(const DenoiseOptions& options, FrameSource& source, KnownFrom from,
            NoiseRecord& noise) {
  const std::vector<SceneNoise> known = noise.scenes;
  noise.scenes.resize(1);
  NoiseFollower frames(source, options, known, from,
                       [&noise](const SceneNoise& scene, bool) { add_scene(noise.scenes, scene); });
  while (frames.read()) continue;
}

FoundNoise noise_of_pipe(const DenoiseOptions& options, io::MediaSource& source) {
  const bool scenes = follows_scenes(options, source.info());
  std::vector<Frame> first = read_frames(source, frames_to_read_ahead(options.input));
  FoundNoise found;
  found.repair = choose_repair(options, source, split_excerpts(first));
  FrameRepairer repairer(found.repair, source.format());
  repair_all(repairer, first);
  found.noise =
      noise_of_first_frames(options, scenes ? first_scene_of(first) : first, source.info().values);
  if (!scenes || found.noise.scenes.front().volume) return found;
  RepairedSource repaired(source, found.repair);
  PrefixedSource all_frames(repaired, std::move(first));
  follow(options, all_frames, KnownFrom::first_frames, found.noise);
  return found;
}

FoundNoise noise_of(const NoiseReportOptions& given) {
  const DenoiseOptions& options = given.input;
  check_one_picture(options.input);
  io::SourceOptions reading = source_options(options.input);
  reading.threads = options.run.threads;
  reading.tolerate_damage = true;
  const auto source = io::open_source(options.input.file, reading);
  check_volume_noise(options, source->info());
  check_noise_map(options, *source);
  if (!can_read_again(options.input.file)) return noise_of_pipe(options, *source);
  FoundNoise found = search_noise(options, *source);
  NoiseRecord& estimated = found.noise;
  const bool scenes = follows_scenes(options, source->info()) && !estimated.scenes.front().volume;
  if (given.all && !scenes)
    throw InvalidArgument(
        "--all of '" + options.input.file +
        "' (only a clip or one part of a clip has scenes; volumes, single pictures "
        "and several parts have not); leave it out");
  write_noise_map(options, *source, estimated);
  RepairedSource repaired(*source, found.repair);
  if (given.all) follow(options, repaired, KnownFrom::positions, estimated);
  return found;
}

}  // namespace

int noise(const NoiseReportOptions& given) {
  NoiseReportOptions options = given;
  set_default_max_memory(options.input.input);
  options.input.input.source.narrow_page_is_slice = !options.input.input.depth.on;
  const DenoiseOptions& input = options.input;
  options.input.output.access = checked_files(options).access();
  if (!input.noise.file.empty())
    throw InvalidArgument("--noise " + input.noise.file +
                          " (must be gaussian, rician or auto); lull noise estimates the level");
  const FoundNoise found = noise_of(options);
  const NoiseRecord& estimated = found.noise;
  if (!input.output.file.empty())
    write_noise(input.output.file, estimated, input.output.overwrite, input.output.access);
  if (!options.plot.empty()) {
    const std::string name = input.input.file == "-" ? "standard input" : input.input.file;
    io::write_text(options.plot, plot(estimated, one_line(name)),
                   {.overwrite = input.output.overwrite, .access = input.output.access});
  }
  if (options.json) {
    std::printf("%s\n", to_json(estimated).c_str());
    return 0;
  }
  if (input.run.quiet) return 0;
  for (const std::string& line : describe(estimated)) std::printf("noise: %s\n", line.c_str());
  if (const std::string defects = describe(found.repair, estimated.layout); !defects.empty())
    std::printf("defects: %s\n", defects.c_str());
  return 0;
}

}  // namespace lull::tools
