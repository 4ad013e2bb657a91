/* A name of C++ in C: it fails when it is compiled. */
#include <windows.h>

int main(void)
{
	IUnknown *p = 0;
	return IID_PPV_ARGS(&p) != 0;
}
