/* Denoises a grey picture with the C library: denoise IN.pgm OUT.pgm SIGMA (binary, 8 bits) */
#include <lull.h>
#include <stdio.h>
#include <stdlib.h>

static void check(lull_status status) {
  if (status == LULL_OK) return;
  fprintf(stderr, "denoise: %s\n", lull_last_error());
  exit(1);
}

int main(int argc, char** argv) {
  lull_format format = {.size = sizeof(format)};
  lull_frame frame = {.size = sizeof(frame)};
  lull_params* params;
  lull_session* session;
  unsigned char* samples;
  FILE* file = argc == 4 ? fopen(argv[1], "rb") : NULL;
  size_t count;
  int white = 0;

  if (!file || fscanf(file, "P5 %d %d %d", &format.width, &format.height, &white) != 3 ||
      white != 255 || format.width < 1 || format.height < 1 || fgetc(file) == EOF)
    return fputs("usage: denoise IN.pgm OUT.pgm SIGMA\n", stderr), 2;
  count = (size_t)format.width * format.height;
  samples = malloc(count);
  if (!samples || fread(samples, 1, count, file) != count) return 1;
  format.content = LULL_PICTURES;

  check(lull_params_new(&params));
  check(lull_params_set(params, "sigma", argv[3]));
  check(lull_session_open(&format, params, NULL, &session));
  frame.planes[0].data = samples; /* the result replaces the frame */
  frame.planes[0].row_stride = format.width;
  check(lull_push(session, &frame));
  check(lull_drain(session, &frame));
  lull_session_close(session);
  lull_params_free(params);

  if (!(file = fopen(argv[2], "wb"))) return 1;
  fprintf(file, "P5\n%d %d\n255\n", format.width, format.height);
  return fwrite(samples, 1, count, file) != count || fclose(file) != 0;
}
