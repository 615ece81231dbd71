#include "c/c99.h"

/* Sets NAME=VALUE pairs; the list ends with NULL. */
static lull_status make_params(lull_params** params, const char* const* pairs) {
  lull_status status = lull_params_new(params);
  for (; status == LULL_OK && *pairs != NULL; pairs += 2)
    status = lull_params_set(*params, pairs[0], pairs[1]);
  return status;
}

static lull_frame frame_at(const void* data, ptrdiff_t row_stride) {
  lull_frame frame = {0};
  frame.size = sizeof(frame);
  frame.planes[0].data = (void*)data;
  frame.planes[0].row_stride = row_stride;
  return frame;
}

lull_status c99_denoise_picture(const unsigned char* noisy, unsigned char* clean, int width,
                                int height, const char* method, const char* profile,
                                const char* sigma) {
  const char* pairs[] = {"method", NULL, "profile", NULL, "sigma", NULL, "device", "cpu", NULL};
  lull_format format = {0};
  lull_params* params = NULL;
  lull_session* session = NULL;
  const lull_frame from = frame_at(noisy, width);
  lull_frame to = frame_at(clean, width);
  lull_status status;

  pairs[1] = method;
  pairs[3] = profile;
  pairs[5] = sigma;
  format.size = sizeof(format);
  format.width = width;
  format.height = height;
  format.layout = LULL_GREY;
  format.sample = LULL_U8;
  format.content = LULL_PICTURES;
  status = make_params(&params, pairs);
  if (status == LULL_OK) status = lull_session_open(&format, params, NULL, &session);
  lull_params_free(params);
  if (status == LULL_OK) status = lull_push(session, &from);
  if (status == LULL_OK) status = lull_drain(session, &to);
  lull_session_close(session);
  return status;
}

lull_status c99_denoise_volume(const float* noisy, float* clean, int width, int height, int slices,
                               const char* sigma) {
  const char* pairs[] = {"method", "bm4d", "sigma", NULL, "device", "cpu", NULL};
  const ptrdiff_t row = (ptrdiff_t)sizeof(float) * width, slice = (ptrdiff_t)width * height;
  lull_format format = {0};
  lull_params* params = NULL;
  lull_session* session = NULL;
  lull_status status;
  int pushed = 0, finished = 0;

  pairs[3] = sigma;
  format.size = sizeof(format);
  format.width = width;
  format.height = height;
  format.layout = LULL_GREY;
  format.sample = LULL_F32;
  format.white = 255;
  format.content = LULL_VOLUME;
  format.frames = slices;
  status = make_params(&params, pairs);
  if (status == LULL_OK) status = lull_session_open(&format, params, NULL, &session);
  lull_params_free(params);
  while (status == LULL_OK) {
    lull_frame to = frame_at(clean + finished * slice, row);
    if (finished == slices) break;
    status = pushed == slices ? lull_drain(session, &to) : lull_next(session, &to);
    if (status == LULL_OK) {
      ++finished;
    } else if (status == LULL_NONE && pushed < slices) {
      lull_frame from = frame_at(noisy + pushed * slice, row);
      from.is_numbered = 1;
      from.number = pushed++;
      status = lull_push(session, &from);
    }
  }
  lull_session_close(session);
  return status;
}
