#include "tools/command_line/command_texts.h"

#include <algorithm>

#include "core/error.h"

namespace lull::tools {
namespace {

constexpr CommandTexts texts[] = {
    {"", "Removes noise from video and pictures with BM3D, on GPUs and CPUs.",
     "A first word that is no command is an input: lull in.mkv out.mkv is lull\n"
     "denoise in.mkv out.mkv. A file that has the name of a command is ./probe.\n"
     "\n"
     "The noise is found in the input; --sigma, --noise and --strength say more.\n"
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
     "Exit codes: 0 done, 2 usage, 65 bad data, 66 no input, 69 device not available,\n"
     "70 internal, 71 not enough memory, 73 cannot create output, 74 I/O error,\n"
     "75 try again (a GPU failed, others are at it), 128+n stopped by signal n.\n",
     "  lull noisy.mkv clean.mkv        (lull denoise --help says more)\n",
     "  lull INPUT OUTPUT [OPTION ...]  (or lull COMMAND ...)\n"},
    {"denoise", "Denoise a video or a still picture",
     "One value A of --window, --group, --step, --tau, --transform, --group-transform\n"
     "and --kaiser applies to both phases, A:B to the first and the second. They\n"
     "change the profile's values.\n"
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
    {"plan", "Plan a job that many processes work on, on any number of machines",
     "Reads the input once and writes down what all of them have to agree on: the\n"
     "input, the noise, all parameters, the encoder, the kind of device, and where\n"
     "each frame is. So it runs where there is such a device. An equal plan that is\n"
     "there already is no error.\n"
     "\n"
     "Examples:\n"
     "  lull plan in.mkv -o out.mkv --segment-frames 500 --job /farm/job7 --json\n"
     "  lull denoise --job /farm/job7 --segment 3\n"
     "  lull join /farm/job7\n",
     "Examples:\n"
     "  lull plan in.mkv -o out.mkv --segment-frames 500 --job /farm/job7 --json\n"},
    {"join", "Put the segments of a planned job together",
     "Checks them all, and muxes them with the input's other streams. Ends with 0\n"
     "where that is done already, with 75 where segments have to be made first: the\n"
     "error names them.\n"
     "\n"
     "Examples:\n"
     "  lull join /farm/job7\n",
     ""},
    {"report", "Write a page of HTML of a job in segments",
     "What is done, segment by segment, what is missing or damaged, the noise, all\n"
     "that it is: of a job that was planned (lull plan), or of OUTPUT.lull-job, the\n"
     "folder of --segment-frames. Nothing of it changes. The page of a run is made by\n"
     "lull denoise --report.\n"
     "\n"
     "Examples:\n"
     "  lull report /farm/job7\n"
     "  lull report out.mkv.lull-job -o state.html\n",
     "Examples:\n"
     "  lull report /farm/job7\n"},
    {"bids", "Denoise the images of a BIDS dataset, as a derivative of it",
     "Each image becomes one with desc-denoised in its name, and a JSON file beside\n"
     "it says from what, which noise was found and what was done. Images that have\n"
     "these stay. An image that fails is told and does not stop the others; the exit\n"
     "code is that of the first that failed then.\n"
     "\n"
     "Examples:\n"
     "  lull bids study study/derivatives/lull participant\n"
     "  lull bids study out participant --participant-label 01 02 --suffix T1w\n",
     "Examples:\n"
     "  lull bids study study/derivatives/lull participant\n",
     "  lull bids BIDS_DIR OUT participant [OPTION ...]\n"},
    {"preview", "Make one picture of a frame before, after, and what is taken away",
     "The picture is a PNG file of 8 bits. What is taken away is amplified, and grey\n"
     "where there is nothing. The frame is denoised with the frames around it that it\n"
     "needs. Of a volume there are three cuts, across z, y and x. Light (OpenEXR) is\n"
     "shown with sRGB's curve, from 0 to white (--white, mostly 1); depths are grey,\n"
     "the greatest the brightest, and holes black.\n"
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
    {"noise", "Say what noise is in an input",
     "Its level in each plane, whether it is white or coarse, whether it depends on\n"
     "brightness; of volumes its kind, and whether it varies over the volume. Where\n"
     "the input does not say, the line begins with \"cannot tell\".\n"
     "\n"
     "Examples:\n"
     "  lull noise clip.mp4\n"
     "  lull noise clip.mp4 -o camera.json --plot noise.svg\n"
     "  lull noise scan.nii.gz --noise-map sigma.nii.gz\n"},
    {"compare", "Measure how far two videos, pictures or volumes differ",
     "Prints PSNR in dB and SSIM for each plane: the mean of the frames, for PSNR\n"
     "also that of the error over all frames (psnr_all), and the worst frame with its\n"
     "number, from 0. Of volumes (NIfTI, TIFF stacks) PSNR and SSIM in three\n"
     "dimensions, in the units of the first.\n"
     "\n"
     "Examples:\n"
     "  lull compare original.png clean.png\n"
     "  lull compare original.mkv clean.mkv --csv frames.csv\n"
     "  lull compare original.mkv clean.mkv --html differences.html\n"
     "  lull compare scan.nii.gz clean.nii.gz --mask brain.nii.gz --json\n",
     "Examples:\n"
     "  lull compare original.mkv clean.mkv\n"
     "  lull compare scan.nii.gz clean.nii.gz --mask brain.nii.gz\n"},
    {"probe", "Say what is in an input",
     "Examples:\n"
     "  lull probe in.mkv\n"
     "  lull probe in.mkv -o out.mp4 --json\n"
     "  lull probe 'shot.####.exr'\n"},
    {"devices", "List what this build can run on here", ""},
    {"help", "Print the help of a command, or the whole manual", ""},
    {"completion", "Print a script for a shell's completion",
     "Examples:\n"
     "  source <(lull completion bash)\n"
     "  lull completion zsh > ~/.zfunc/_lull\n"},
};

}  // namespace

const CommandTexts& texts_of(std::string_view command) {
  const auto* found = std::ranges::find(texts, command, &CommandTexts::name);
  if (found == std::end(texts)) throw InternalError("no texts of lull " + std::string(command));
  return *found;
}

}  // namespace lull::tools
