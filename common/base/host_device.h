// Functions that the host and a GPU compute alike.
#ifndef PACELINE_COMMON_BASE_HOST_DEVICE_H_
#define PACELINE_COMMON_BASE_HOST_DEVICE_H_

// Before a function that nvcc, where it reads it, is to compile for both.
#ifdef __CUDACC__
#define PACELINE_HOST_DEVICE __host__ __device__
#else
#define PACELINE_HOST_DEVICE
#endif

#endif  // PACELINE_COMMON_BASE_HOST_DEVICE_H_
