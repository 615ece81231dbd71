/* The C interface of lull, a denoiser for pictures, video and volumes.
 *
 * A program sets parameters by name, opens a session for frames of one format, pushes frames and
 * takes one result for each of them, in the same order:
 *
 *   lull_params_new, lull_params_set -> lull_session_open -> lull_push, lull_next, ..., lull_drain
 *
 * Functions return a status. Texts are UTF-8, belong to the library and have one line. No function
 * throws an exception or ends the process.
 *
 * Structures begin with `size`, which the caller sets to sizeof the structure. Later versions of
 * the library may append members. A structure of an older program lacks them, and they count as 0.
 * All unused members must be 0, so a structure is best initialised to zeros.
 *
 * Threads: different objects may be used in different threads at the same time. An object may be
 * used by one thread at a time, except where a function states otherwise.
 */
#ifndef LULL_H
#define LULL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define LULL_API __attribute__((visibility("default")))
#else
#define LULL_API
#endif

/* ---- Status ---- */

/* 0: success; above 0: success without a result; below 0: an error. */
typedef int32_t lull_status;
enum {
  LULL_OK = 0,
  LULL_NONE = 1,                /* there is no (further) item; not an error */
  LULL_INVALID_ARGUMENT = -1,   /* the request is invalid */
  LULL_BAD_DATA = -2,           /* the samples cannot be used, for example an empty volume */
  LULL_DEVICE_UNAVAILABLE = -3, /* this build or machine lacks the device */
  LULL_OUT_OF_MEMORY = -4,      /* host memory */
  LULL_OUT_OF_DEVICE_MEMORY = -5,
  LULL_DEVICE_FAILED = -6, /* the device worked before; another one, or a retry, may succeed */
  LULL_CANCELLED = -7,     /* lull_cancel() or the progress function stopped the session */
  LULL_UNSUPPORTED = -8,   /* this build or driver lacks the feature */
  LULL_CLOSED = -9,        /* an earlier failure closed the session; open another one */
  LULL_INTERNAL = -10      /* a fault of the library */
};

/* Returns the version of the library, for example "1.0.0". Thread-safe. */
LULL_API const char* lull_version(void);
/* Returns the name of a status, for example "invalid argument". Thread-safe. */
LULL_API const char* lull_status_name(lull_status status);
/* Returns the text of the last failed call in this thread: "problem (reason); suggestion". The text
 * is valid until another call fails in this thread, and empty if no call has failed. Thread-safe.
 */
LULL_API const char* lull_last_error(void);

/* ---- Messages ---- */

enum { LULL_LOG_WARNING = 1, LULL_LOG_INFO = 2 };
/* Receives one message. It may be called from any thread of the library, by one thread at a time.
 * It must not call functions of the library. */
typedef void (*lull_log_function)(int32_t level, const char* text, void* user);
/* Sets the function that receives the messages of all sessions. NULL: no function receives them.
 * When lull_set_log() returns, no call of the previous function is in progress. Thread-safe. */
LULL_API lull_status lull_set_log(lull_log_function function, void* user);

/* ---- Names ---- */

/* Returns the name of method `index`, from 0; NULL after the last one. Thread-safe. */
LULL_API const char* lull_method_name(size_t index);
/* Returns the name of profile `index` of a method; NULL after the last one, and for unknown
 * methods. Thread-safe. */
LULL_API const char* lull_profile_name(const char* method, size_t index);

typedef struct lull_parameter_info {
  size_t size;
  const char* name;   /* for lull_params_set(): an option of the command `lull` without dashes */
  const char* values; /* the form of its values, for example "A[:B]" */
  const char* help;
} lull_parameter_info;
/* Describes parameter `index`, from 0. Returns LULL_NONE after the last one. Thread-safe. */
LULL_API lull_status lull_get_parameter(size_t index, lull_parameter_info* info);

typedef struct lull_device_info {
  size_t size;
  char name[32];         /* for the parameter "device": "cpu" or "cuda:N" */
  char description[128]; /* for example the name of the GPU */
  uint64_t memory;       /* bytes of a GPU's memory; 0 for the CPU */
  int32_t major, minor;  /* compute capability of a GPU */
} lull_device_info;
/* Describes device `index`, from 0. Returns LULL_NONE after the last one. Thread-safe. */
LULL_API lull_status lull_get_device(size_t index, lull_device_info* info);

/* ---- Formats and frames ---- */

enum { LULL_GREY = 0, LULL_YUV = 1, LULL_RGB = 2 }; /* planes: Y | Y, Cb, Cr | R, G, B */
enum { LULL_U8 = 0, LULL_U16 = 1, LULL_F32 = 2 };   /* samples, in the machine's byte order */
enum {
  LULL_CLIP = 0,     /* frames that follow each other in time */
  LULL_PICTURES = 1, /* unrelated pictures */
  LULL_VOLUME = 2    /* slices of volumes */
};

/* The format of all frames of a session. */
typedef struct lull_format {
  size_t size;
  int32_t width, height; /* samples of the first plane, at least 1 */
  int32_t layout, sample;
  int32_t bits;             /* LULL_U16: 9 to 16, in the low bits; 0: as many as the type has */
  int32_t shift_x, shift_y; /* log2 of the subsampling of Cb and Cr: 4:2:0 is 1, 1 */
  float white;     /* LULL_F32: value of white, which is 255 on the scale of sigma; 0: 1.0 */
  int32_t content; /* LULL_CLIP, LULL_PICTURES or LULL_VOLUME */
  int32_t frames;  /* number of frames, or slices of a volume, if known; 0: unknown */
} lull_format;

enum {
  LULL_HOST = 0,
  LULL_CUDA = 1,   /* memory of a GPU, from any CUDA allocator */
  LULL_DMA_BUF = 2 /* memory behind a file descriptor: a dma-buf, or a memfd */
};

typedef struct lull_plane {
  void* data;              /* address of the first sample; LULL_DMA_BUF: its offset in bytes */
  ptrdiff_t row_stride;    /* bytes from row to row; may be negative */
  ptrdiff_t sample_stride; /* bytes from sample to sample; 0: samples are contiguous */
} lull_plane;

/* Frees a program's memory. It may be called from any thread. It must not call functions of the
 * library. */
typedef void (*lull_release_function)(void* user);

/* A frame in the memory of the program. Packed colours are planes with a sample_stride. */
typedef struct lull_frame {
  size_t size;
  lull_plane planes[3]; /* grey frames have only the first */
  int32_t memory;       /* LULL_HOST, LULL_CUDA or LULL_DMA_BUF */
  int32_t device;       /* LULL_CUDA: number of the GPU among the visible ones */
  void* stream;         /* LULL_CUDA: cudaStream_t that uses the memory; NULL: the legacy default */
  int32_t fd;           /* LULL_DMA_BUF: the caller owns it and may close it after the call */
  int32_t is_numbered;  /* 1: `number` is valid; 0: each frame follows the previous one */
  int64_t number;       /* number of the frame, or of the slice in its volume, from 0 */
  int64_t tag;          /* any value; the result of the frame has the same value */
  /* Used by lull_push() and lull_estimator_add(). NULL: the function copies the samples before it
   * returns. Otherwise the library may read the samples in place until it calls `release`, and the
   * caller must not change them. The library calls `release` exactly once, even if the function
   * fails, but not if the frame is NULL or has an unknown `size`. */
  lull_release_function release;
  void* user;
} lull_frame;

/* ---- Parameters ---- */

typedef struct lull_params lull_params;
typedef struct lull_noise lull_noise;

/* Makes a set of parameters with default values. The caller frees it with lull_params_free(). */
LULL_API lull_status lull_params_new(lull_params** params);
/* Sets a parameter as the option of the command `lull` does: "method", "profile", "device",
 * "sigma", "temporal", ... lull_get_parameter() lists them. `value` may be NULL for a parameter
 * without values. LULL_INVALID_ARGUMENT: there is no such parameter or value. Combinations are
 * checked by lull_session_open(). */
LULL_API lull_status lull_params_set(lull_params* params, const char* name, const char* value);
/* Uses a noise estimate instead of "sigma". `noise` may be freed after the call. */
LULL_API lull_status lull_params_set_noise(lull_params* params, const lull_noise* noise);
/* Frees parameters; NULL is ignored. Sessions that were opened with them are not affected. */
LULL_API void lull_params_free(lull_params* params);

/* ---- Noise estimates ---- */

enum { LULL_GAUSSIAN = 0, LULL_RICIAN = 1 };

typedef struct lull_noise_info {
  size_t size;
  float sigma[3]; /* standard deviation of each plane's noise on the 0..255 scale */
  int32_t kind;   /* LULL_GAUSSIAN, or LULL_RICIAN for magnitudes of MRI */
  int32_t is_white;
  int32_t is_certain; /* 0: texture and noise look alike; sigma is a safe low value */
  const char* why;    /* why the estimate is uncertain, or ""; valid until lull_noise_free() */
} lull_noise_info;

typedef struct lull_estimator lull_estimator;

/* Opens an estimator for frames of a format. With LULL_VOLUME it estimates the noise of volumes,
 * also Rician noise ("noise" of `params` may name the kind). If `params` have a "sigma", the
 * estimate has this level, and the samples are only used to find where the noise is clipped.
 * `params` may be NULL. */
LULL_API lull_status lull_estimator_open(const lull_format* format, const lull_params* params,
                                         lull_estimator** estimator);
/* Adds a frame. For a clip, 3 consecutive frames from each of 8 places are sufficient. Frames whose
 * numbers are consecutive, or that have no numbers, are compared with each other, unless the format
 * has LULL_PICTURES. The estimator keeps frames until it is closed. It does not keep the slices of
 * a volume, which must all be added in order. */
LULL_API lull_status lull_estimator_add(lull_estimator* estimator, const lull_frame* frame);
/* Estimates the noise of the added frames. The caller frees `noise` with lull_noise_free().
 * LULL_BAD_DATA: no frame was added, or the volume is too small. */
LULL_API lull_status lull_estimator_find(lull_estimator* estimator, lull_noise** noise);
/* Closes an estimator; NULL is ignored. */
LULL_API void lull_estimator_close(lull_estimator* estimator);
LULL_API lull_status lull_noise_get(const lull_noise* noise, lull_noise_info* info);
/* Frees an estimate; NULL is ignored. */
LULL_API void lull_noise_free(lull_noise* noise);

/* ---- Sessions ---- */

typedef struct lull_session lull_session;

/* Is called after each finished frame, in the thread that called lull_push() or lull_drain().
 * Receives the number of frames that have been pushed and the number that are finished. If it
 * returns a value other than 0, the session is cancelled. Of the library's functions it may call
 * only lull_cancel() and lull_session_get(). */
typedef int32_t (*lull_progress_function)(uint64_t pushed, uint64_t finished, void* user);

typedef struct lull_session_options {
  size_t size;
  /* Where results are stored until lull_next() copies them. LULL_CUDA: on the session's GPU, the
   * best choice if outputs are in its memory. LULL_HOST: in host memory, the best choice if outputs
   * are there. In both cases, lull_next() can copy to both kinds of memory. */
  int32_t result_memory;
  int32_t reserved;
  lull_progress_function progress; /* may be NULL */
  void* user;                      /* for `progress` */
} lull_session_options;

typedef struct lull_session_info {
  size_t size;
  char device[32];   /* where the session runs: "cpu", "cuda:1", "cuda:0,1" */
  int32_t is_volume; /* 1: slices are filtered as volumes; 0: as pictures or clips */
  int32_t latency;   /* frames that may be pushed before the first result is ready */
  int32_t before;    /* frames before a frame on which its result depends */
  int32_t after;     /* frames after it */
  uint64_t pushed;   /* frames of the current clip pushed so far */
  uint64_t finished; /* results of the current clip computed so far */
} lull_session_info;

/* Opens a session. `options` may be NULL. The caller closes it with lull_session_close().
 * LULL_INVALID_ARGUMENT: parameters contradict each other or do not suit the format, or neither
 * "sigma" nor a noise estimate is set. */
LULL_API lull_status lull_session_open(const lull_format* format, const lull_params* params,
                                       const lull_session_options* options, lull_session** session);
/* Returns the format of the results: that of the frames, unless the parameter "bits" is set. */
LULL_API lull_status lull_session_format(const lull_session* session, lull_format* format);
/* Describes a session and its progress. May be called in any thread until the session is closed. */
LULL_API lull_status lull_session_get(const lull_session* session, lull_session_info* info);
/* Pushes a frame of the session's format, and computes all results that are possible with it. If
 * the frame is not usable, the session does not change. If the computation fails, all later calls
 * return LULL_CLOSED. Several threads may call lull_push(), lull_next() and lull_drain(); calls for
 * one session run one after the other. */
LULL_API lull_status lull_push(lull_session* session, const lull_frame* frame);
/* Writes the next result that is ready to the planes of `result`, and sets its tag. LULL_NONE: no
 * result is ready. The result may be written to the memory of its frame, if the library has
 * released this memory. If `result` is invalid, the call fails, and a later call can take the
 * result. */
LULL_API lull_status lull_next(lull_session* session, lull_frame* result);
/* Ends the clip. Each call computes and writes one of the remaining results, in the same way as
 * lull_next(). LULL_NONE: all results have been taken, and the session accepts another clip. */
LULL_API lull_status lull_drain(lull_session* session, lull_frame* result);
/* Cancels a session: calls of lull_push(), lull_next() and lull_drain() return LULL_CANCELLED. A
 * call in progress first completes the frame that it computes. lull_cancel() does not wait for it.
 * May be called in any thread until the session is closed. */
LULL_API lull_status lull_cancel(lull_session* session);
/* Returns the text of the session's last failed call; empty if no call has failed. The text is
 * valid until another call for the session fails. */
LULL_API const char* lull_session_error(const lull_session* session);
/* Closes a session and releases all frames. NULL is ignored. No other call may be in progress. */
LULL_API void lull_session_close(lull_session* session);

#ifdef __cplusplus
}
#endif

#endif
