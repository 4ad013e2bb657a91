/* SPDX-License-Identifier: MIT
 *
 * "My plugins are loaded by my own loader, so no trace knows them": writes kernel ImageLoad events
 * for them into a trace, with the relogger, so that tools show addresses in them by module name.
 *
 *   inject-image-load IN.etl OUT.etl MODULES.txt
 *
 * MODULES.txt has a line for each module: process id, base address and size (hexadecimal), path.
 *   4711 7f0000400000 25000 /opt/app/plugins/effects.plug
 */
#include <windows.h>
#include <atlbase.h>
#include <evntcons.h>
#include <relogger.h>

#include <cstdio>
#include <string>
#include <vector>

/* Image, a class of the kernel logger; opcode 10 is Load. */
static const GUID ImageClass = {0x2cb15d1d, 0x5fc1, 0x11d2, {0xab, 0xe1, 0x00, 0xa0, 0xc9, 0x11, 0xf5, 0x18}};
static const UCHAR LoadOpcode = 10;
static const UCHAR LoadVersion = 3;

struct Module {
	ULONG processId;
	ULONG64 base, size;
	std::string path;
};

static void Put(std::vector<BYTE> &to, ULONG64 value, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		to.push_back((BYTE)(value >> (8 * i)));
	}
}

/* Image_Load, version 3, of a 64-bit trace. */
static std::vector<BYTE> Payload(const Module &m)
{
	std::vector<BYTE> p;
	Put(p, m.base, 8);
	Put(p, m.size, 8);
	Put(p, m.processId, 4);
	Put(p, 0, 4);      /* ImageChecksum */
	Put(p, 0, 4);      /* TimeDateStamp */
	Put(p, 0, 4);      /* SignatureLevel, SignatureType, Reserved0 */
	Put(p, m.base, 8); /* DefaultBase */
	Put(p, 0, 8);      /* Reserved1, Reserved2 */
	Put(p, 0, 8);      /* Reserved3, Reserved4 */
	std::vector<WCHAR> wide(m.path.size() + 1);
	int n = MultiByteToWideChar(CP_UTF8, 0, m.path.c_str(), -1, wide.data(), (int)wide.size());
	for (int i = 0; i < n; i++) {
		Put(p, wide[(size_t)i], 2);
	}
	return p;
}

class Injector : public ITraceEventCallback
{
	std::vector<Module> modules_;
	RELOGSTREAM_ID stream_;
	ULONG references_ = 1;

      public:
	Injector(std::vector<Module> modules, RELOGSTREAM_ID stream) : modules_(std::move(modules)), stream_(stream)
	{
	}
	STDMETHODIMP QueryInterface(REFIID iid, void **object) override
	{
		if (iid == __uuidof(IUnknown) || iid == __uuidof(ITraceEventCallback)) {
			AddRef();
			*object = this;
			return S_OK;
		}
		*object = NULL;
		return E_NOINTERFACE;
	}
	STDMETHODIMP_(ULONG) AddRef() override
	{
		return ++references_;
	}
	STDMETHODIMP_(ULONG) Release() override
	{
		return --references_; /* lives in main */
	}

	/* Before all other events: the modules were there when the recording began. */
	STDMETHODIMP OnBeginProcessTrace(ITraceEvent *header, ITraceRelogger *relogger) override
	{
		PEVENT_RECORD record;
		HRESULT hr = header->GetEventRecord(&record);
		for (size_t i = 0; i < modules_.size() && SUCCEEDED(hr); i++) {
			CComPtr<ITraceEvent> load;
			EVENT_DESCRIPTOR descriptor = {};
			std::vector<BYTE> payload = Payload(modules_[i]);
			hr = relogger->CreateEventInstance(
				stream_, EVENT_HEADER_FLAG_CLASSIC_HEADER | EVENT_HEADER_FLAG_64_BIT_HEADER, &load);
			if (FAILED(hr)) {
				break;
			}
			descriptor.Opcode = LoadOpcode;
			descriptor.Version = LoadVersion;
			load->SetProviderId(&ImageClass);
			load->SetEventDescriptor(&descriptor);
			load->SetProcessId(modules_[i].processId);
			load->SetTimeStamp(&record->EventHeader.TimeStamp);
			load->SetPayload(payload.data(), (ULONG)payload.size());
			hr = relogger->Inject(load);
		}
		return hr;
	}
	STDMETHODIMP OnFinalizeProcessTrace(ITraceRelogger *) override
	{
		return S_OK;
	}
	/* Everything else passes as it is. */
	STDMETHODIMP OnEvent(ITraceEvent *event, ITraceRelogger *relogger) override
	{
		return relogger->Inject(event);
	}
};

static bool ReadModules(const char *path, std::vector<Module> &modules)
{
	FILE *f = fopen(path, "r");
	unsigned long long base, size;
	unsigned processId;
	char name[1024];
	while (f && fscanf(f, "%u %llx %llx %1023[^\n]", &processId, &base, &size, name) == 4) {
		modules.push_back({processId, base, size, name});
	}
	bool ok = f && feof(f);
	if (f) {
		fclose(f);
	}
	return ok;
}

int main(int argc, char **argv)
{
	std::vector<Module> modules;
	if (argc != 4 || !ReadModules(argv[3], modules)) {
		fprintf(stderr, "usage: inject-image-load IN.etl OUT.etl MODULES.txt\n");
		return 2;
	}
	CComPtr<ITraceRelogger> relogger;
	RELOGSTREAM_ID stream;
	HRESULT hr = CoInitializeEx(NULL, COINIT_MULTITHREADED);
	if (SUCCEEDED(hr)) {
		hr = relogger.CoCreateInstance(__uuidof(CTraceRelogger), NULL, CLSCTX_INPROC_SERVER);
	}
	if (SUCCEEDED(hr)) {
		hr = relogger->AddLogfileTraceStream(CComBSTR(argv[1]), NULL, &stream);
	}
	if (SUCCEEDED(hr)) {
		hr = relogger->SetOutputFilename(CComBSTR(argv[2]));
	}
	if (SUCCEEDED(hr)) {
		Injector injector(std::move(modules), stream);
		hr = relogger->RegisterCallback(&injector);
		hr = SUCCEEDED(hr) ? relogger->ProcessTrace() : hr;
	}
	if (FAILED(hr)) {
		fprintf(stderr, "inject-image-load: 0x%08x\n", (unsigned)hr);
		return 1;
	}
	return 0;
}
