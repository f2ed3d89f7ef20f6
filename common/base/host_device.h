// Functions that are compiled for both the host and the GPU.
#ifndef PACELINE_COMMON_BASE_HOST_DEVICE_H_
#define PACELINE_COMMON_BASE_HOST_DEVICE_H_

// Put it before a function that nvcc has to compile for both.
#ifdef __CUDACC__
#define PACELINE_HOST_DEVICE __host__ __device__
#else
#define PACELINE_HOST_DEVICE
#endif

// Put it before a loop of a kernel whose arrays are to be in registers. These
// have no addresses, so no iteration may be left as a loop.
#ifdef __CUDA_ARCH__
#define PACELINE_UNROLL _Pragma("unroll")
#else
#define PACELINE_UNROLL
#endif

#endif  // PACELINE_COMMON_BASE_HOST_DEVICE_H_
