#include "tools/command_line/command_texts.h"

#include <algorithm>

#include "core/error.h"

namespace lull::tools {
namespace {

constexpr CommandTexts texts[] = {
    {"", "Denoises video, images and volumes (BM3D, BM4D, NLM) on NVIDIA GPUs or the CPU.",
     "If the first word is not a command, it is an input: lull in.mkv out.mkv means\n"
     "lull denoise in.mkv out.mkv. A file with the name of a command is ./probe.\n"
     "\n"
     "lull estimates the noise from the input; --sigma, --noise and --strength change\n"
     "that.\n"
     "\n"
     "Examples:\n"
     "  lull noisy.mkv clean.mkv\n"
     "  lull preview noisy.mkv\n"
     "  lull noise noisy.mkv\n"
     "  lull denoise -i scan.png -o clean.png --sigma 15 --profile high\n"
     "  ffmpeg ... -f nut - | lull denoise -i - -o - --sigma 20 | ffmpeg -i - ...\n"
     "  lull denoise -i 'in.%04d.exr' -o 'out.%04d.exr' --sigma 10 --frames 0-99\n"
     "  lull probe in.mkv\n"
     "  lull compare original.mkv clean.mkv\n"
     "  lull devices\n"
     "\n"
     "Exit codes: 0 success, 2 usage error, 65 invalid data, 66 no input, 69 device\n"
     "not available, 70 internal error, 71 not enough memory, 73 output cannot be\n"
     "created, 74 I/O error, 75 temporary failure: retry, 128+n stopped by signal n.\n",
     "  lull noisy.mkv clean.mkv        (more options: lull denoise --help)\n",
     "  lull INPUT OUTPUT [OPTION ...]  (or lull COMMAND ...)\n"},
    {"denoise", "Denoise a video, an image or a volume",
     "The options --window, --group, --step, --tau, --transform, --group-transform\n"
     "and --kaiser take one value for both phases, or A:B for the first and the\n"
     "second phase. They change the values of the profile.\n"
     "\n"
     "Examples:\n"
     "  lull noisy.mkv clean.mkv\n"
     "  lull noisy.mp4 clean.mkv --sigma 12:6:6 --profile fast --lossless\n"
     "  lull noisy.mp4 clean.mkv --noise camera.json --strength light\n"
     "  lull denoise -i noisy.mov -o clean.mp4 --sigma 8 --device cuda:0,1 \\\n"
     "    --vcodec libx265 --crf 16 --vopts preset=slow\n"
     "  lull scan.tiff clean.tiff --sigma 25 --profile high --step 2:3 -y\n"
     "  lull scan.nii.gz clean.nii.gz --sigma 12 --mask brain.nii.gz --profile high\n",
     "Examples:\n"
     "  lull noisy.mp4 part.mp4 --strength light --start 1:30 --duration 20\n"
     "  lull scan.png clean.png --sigma 15 --profile high\n",
     "  lull [denoise] INPUT OUTPUT [OPTION ...]\n"},
    {"plan", "Plan a shared job for several processes, on one or more machines",
     "Reads the input once and stores everything that all processes need: the input,\n"
     "the noise, all parameters, the encoder, the kind of device, and the position of\n"
     "each frame. Run it on a machine with that kind of device. If an identical plan\n"
     "exists already, the command succeeds.\n"
     "\n"
     "Examples:\n"
     "  lull plan in.mkv -o out.mkv --segment-frames 500 --job /farm/job7 --json\n"
     "  lull denoise --job /farm/job7 --segment 3\n"
     "  lull join /farm/job7\n",
     "Examples:\n"
     "  lull plan in.mkv -o out.mkv --segment-frames 500 --job /farm/job7 --json\n"},
    {"join", "Join the segments of a shared job",
     "Checks all segments and muxes them with the other streams of the input. The\n"
     "exit code is 0 if this is done already, and 75 if segments are missing; the\n"
     "error message names them.\n"
     "\n"
     "Examples:\n"
     "  lull join /farm/job7\n",
     ""},
    {"report", "Write an HTML page about a job in segments",
     "The page lists the finished, missing and damaged segments, the noise estimate\n"
     "and all settings of a planned job (lull plan), or of OUTPUT.lull-job, the\n"
     "folder of --segment-frames. The job is not changed. lull denoise --report\n"
     "writes the page of a run.\n"
     "\n"
     "Examples:\n"
     "  lull report /farm/job7\n"
     "  lull report out.mkv.lull-job -o state.html\n",
     "Examples:\n"
     "  lull report /farm/job7\n"},
    {"bids", "Denoise the images of a BIDS dataset and write a derivative",
     "Each result has desc-denoised in its name, and a JSON file with its source, the\n"
     "noise estimate and the method. Finished images are not processed again. If an\n"
     "image fails, an error is printed and the others are still processed; the exit\n"
     "code is that of the first failure that is not temporary, otherwise 75.\n"
     "\n"
     "Examples:\n"
     "  lull bids study study/derivatives/lull participant\n"
     "  lull bids study out participant --participant-label 01 02 --suffix T1w\n",
     "Examples:\n"
     "  lull bids study study/derivatives/lull participant\n",
     "  lull bids BIDS_DIR OUT participant [OPTION ...]\n"},
    {"preview", "Write a picture of one frame before, after, and the residual",
     "The picture is an 8-bit PNG file. The residual is amplified; grey means no\n"
     "difference. The frame is denoised together with the neighbouring frames that\n"
     "affect it. For a volume, the picture shows three cuts, across z, y and x.\n"
     "Linear light (OpenEXR) is displayed with the sRGB curve, from 0 to white\n"
     "(--white, usually 1). Depth maps are grey: the largest depth is the brightest,\n"
     "holes are black.\n"
     "\n"
     "Examples:\n"
     "  lull preview noisy.mkv\n"
     "  lull preview noisy.mkv --sigma 12:6:6 --profile high --at 1:02 -o one.png\n"
     "  lull preview scan.nii.gz --at 90,110,60\n"
     "  lull preview render.exr --guide auto -o render.png\n"
     "  lull preview disparity.tif --depth --sigma 2\n",
     "Examples:\n"
     "  lull preview noisy.mkv\n"
     "  lull preview noisy.mkv --sigma 12:6:6 --profile high --at 1:02 -o one.png\n"},
    {"noise", "Estimate the noise of an input",
     "Prints the level in each plane, whether the noise is white or coarse, and\n"
     "whether it depends on brightness; for a volume, its kind and whether it varies\n"
     "over the volume. If the input does not allow an estimate, the line begins\n"
     "\"cannot tell\".\n"
     "\n"
     "Examples:\n"
     "  lull noise clip.mp4\n"
     "  lull noise clip.mp4 -o camera.json --plot noise.svg\n"
     "  lull noise scan.nii.gz --noise-map sigma.nii.gz\n"},
    {"compare", "Measure the difference of two videos, pictures or volumes",
     "Prints PSNR in dB and SSIM for each plane: the mean over the frames, the PSNR\n"
     "of the error over all frames (psnr_all), and the worst frame with its number,\n"
     "from 0. For volumes (NIfTI, TIFF stacks): PSNR and SSIM in three dimensions, in\n"
     "the units of the first volume.\n"
     "\n"
     "Examples:\n"
     "  lull compare original.png clean.png\n"
     "  lull compare original.mkv clean.mkv --csv frames.csv\n"
     "  lull compare original.mkv clean.mkv --html differences.html\n"
     "  lull compare scan.nii.gz clean.nii.gz --mask brain.nii.gz --json\n",
     "Examples:\n"
     "  lull compare original.mkv clean.mkv\n"
     "  lull compare scan.nii.gz clean.nii.gz --mask brain.nii.gz\n"},
    {"probe", "Print the properties of an input",
     "Examples:\n"
     "  lull probe in.mkv\n"
     "  lull probe in.mkv -o out.mp4 --json\n"
     "  lull probe 'shot.####.exr'\n"},
    {"clean", "Remove temporary files of killed processes",
     "lull writes each output to a temporary file in the same folder. A process that\n"
     "is killed leaves this file there. The next run with the same output removes it.\n"
     "This command removes all such files in DIR, and in the folders of interrupted\n"
     "jobs in DIR. It keeps files whose process still exists, and files of other\n"
     "hosts and containers, and prints one line for each file.\n"
     "\n"
     "Examples:\n"
     "  lull clean videos --dry-run\n"
     "  lull clean videos\n",
     "Examples:\n"
     "  lull clean videos --dry-run\n"},
    {"devices", "List the devices that this build can use on this machine", ""},
    {"doctor", "Print what works on this machine, for bug reports",
     "Denoises a test picture on the CPU and on each GPU, opens the GPU's decoder and\n"
     "encoders, and prints the results with the versions of all parts. The output\n"
     "contains no names of users, hosts or files. The exit code is 69 if no device\n"
     "works.\n"},
    {"help", "Print the help of a command, or the complete manual", ""},
    {"completion", "Print a completion script for a shell",
     "Examples:\n"
     "  source <(lull completion bash)\n"
     "  lull completion zsh > ~/.zfunc/_lull\n"},
};

}  // namespace

const CommandTexts& texts_of(std::string_view command) {
  const auto* found = std::ranges::find(texts, command, &CommandTexts::name);
  if (found == std::end(texts))
    throw InternalError("no help texts for lull " + std::string(command));
  return *found;
}

}  // namespace lull::tools
