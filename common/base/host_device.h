// Functions that are compiled for both the host and the GPU.
#ifndef PACELINE_COMMON_BASE_HOST_DEVICE_H_
#define PACELINE_COMMON_BASE_HOST_DEVICE_H_

// Put it before a function that nvcc has to compile for both.
#ifdef __CUDACC__
#define PACELINE_HOST_DEVICE __host__ __device__
#else
#define PACELINE_HOST_DEVICE
#endif

#endif  // PACELINE_COMMON_BASE_HOST_DEVICE_H_
