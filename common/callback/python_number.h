// Numbers as Python prints them.
#ifndef PACELINE_COMMON_CALLBACK_PYTHON_NUMBER_H_
#define PACELINE_COMMON_CALLBACK_PYTHON_NUMBER_H_

#include <string>

namespace paceline {

// The repr() of a float: the shortest text that reads as the same number, such
// as "1.0", "1e-05", "nan".
std::string PythonNumber(double number);

}  // namespace paceline

#endif  // PACELINE_COMMON_CALLBACK_PYTHON_NUMBER_H_
