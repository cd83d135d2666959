/// MS_API: marks symbols that the shared library exports.
#ifndef MINDSPORE_INCLUDE_API_VISIBLE_H
#define MINDSPORE_INCLUDE_API_VISIBLE_H

#if defined(_WIN32)
#define MS_API __declspec(dllexport)
#else
#define MS_API __attribute__((visibility("default")))
#endif

#endif
