/* SPDX-License-Identifier: MIT
 *
 * The resource script, and Windows' numbers for languages.
 */
#include "mc/mc_private.h"

#include <strings.h>

static const struct {
	const char *name;
	uint16_t id;
} languages[] = {{"ar-SA", 0x0401},
		 {"bg-BG", 0x0402},
		 {"ca-ES", 0x0403},
		 {"zh-TW", 0x0404},
		 {"cs-CZ", 0x0405},
		 {"da-DK", 0x0406},
		 {"de-DE", 0x0407},
		 {"el-GR", 0x0408},
		 {"en-US", 0x0409},
		 {"fi-FI", 0x040B},
		 {"fr-FR", 0x040C},
		 {"he-IL", 0x040D},
		 {"hu-HU", 0x040E},
		 {"is-IS", 0x040F},
		 {"it-IT", 0x0410},
		 {"ja-JP", 0x0411},
		 {"ko-KR", 0x0412},
		 {"nl-NL", 0x0413},
		 {"nb-NO", 0x0414},
		 {"pl-PL", 0x0415},
		 {"pt-BR", 0x0416},
		 {"rm-CH", 0x0417},
		 {"ro-RO", 0x0418},
		 {"ru-RU", 0x0419},
		 {"hr-HR", 0x041A},
		 {"sk-SK", 0x041B},
		 {"sq-AL", 0x041C},
		 {"sv-SE", 0x041D},
		 {"th-TH", 0x041E},
		 {"tr-TR", 0x041F},
		 {"ur-PK", 0x0420},
		 {"id-ID", 0x0421},
		 {"uk-UA", 0x0422},
		 {"be-BY", 0x0423},
		 {"sl-SI", 0x0424},
		 {"et-EE", 0x0425},
		 {"lv-LV", 0x0426},
		 {"lt-LT", 0x0427},
		 {"fa-IR", 0x0429},
		 {"vi-VN", 0x042A},
		 {"hy-AM", 0x042B},
		 {"eu-ES", 0x042D},
		 {"mk-MK", 0x042F},
		 {"af-ZA", 0x0436},
		 {"ka-GE", 0x0437},
		 {"hi-IN", 0x0439},
		 {"ms-MY", 0x043E},
		 {"kk-KZ", 0x043F},
		 {"bn-IN", 0x0445},
		 {"ta-IN", 0x0449},
		 {"te-IN", 0x044A},
		 {"mr-IN", 0x044E},
		 {"gl-ES", 0x0456},
		 {"qps-ploc", 0x0501},
		 {"zh-CN", 0x0804},
		 {"de-CH", 0x0807},
		 {"en-GB", 0x0809},
		 {"es-MX", 0x080A},
		 {"fr-BE", 0x080C},
		 {"it-CH", 0x0810},
		 {"nl-BE", 0x0813},
		 {"nn-NO", 0x0814},
		 {"pt-PT", 0x0816},
		 {"sr-Latn-CS", 0x081A},
		 {"zh-HK", 0x0C04},
		 {"de-AT", 0x0C07},
		 {"en-AU", 0x0C09},
		 {"es-ES", 0x0C0A},
		 {"fr-CA", 0x0C0C},
		 {"en-CA", 0x1009},
		 {"fr-CH", 0x100C},
		 {"sr-Latn-RS", 0x241A},
		 /* neutral ones */
		 {"ar", 0x0001},
		 {"zh-Hans", 0x0004},
		 {"cs", 0x0005},
		 {"da", 0x0006},
		 {"de", 0x0007},
		 {"el", 0x0008},
		 {"en", 0x0009},
		 {"es", 0x000A},
		 {"fi", 0x000B},
		 {"fr", 0x000C},
		 {"he", 0x000D},
		 {"hu", 0x000E},
		 {"it", 0x0010},
		 {"ja", 0x0011},
		 {"ko", 0x0012},
		 {"nl", 0x0013},
		 {"no", 0x0014},
		 {"pl", 0x0015},
		 {"pt", 0x0016},
		 {"ro", 0x0018},
		 {"ru", 0x0019},
		 {"sv", 0x001D},
		 {"tr", 0x001F},
		 {"uk", 0x0022},
		 {"zh-Hant", 0x7C04}};

int mc_language_id(const char *culture, uint16_t *ret)
{
	for (size_t i = 0; i < BASE_ARRAY_LEN(languages); i++) {
		if (strcasecmp(languages[i].name, culture) == 0) {
			*ret = languages[i].id;
			return 0;
		}
	}
	return -ENOENT;
}

/* 11 is RT_MESSAGETABLE. */
void mc_write_rc(const struct mc *mc, const char *base, const char *prefix, struct strbuf *out)
{
	for (size_t i = 0; mc_has_messages(mc) && i < mc_language_count(mc); i++) {
		uint16_t id = 0x0409;
		mc_language_id(mc_language_name(mc, i), &id);
		strbuf_addf(out, "LANGUAGE 0x%x,0x%x\r\n1 11 \"%sMSG%05zX.bin\"\r\n", id & 0x3FFu, (unsigned)id >> 10,
			    prefix, i + 1);
	}
	strbuf_addf(out, "1 WEVT_TEMPLATE \"%sTEMP.BIN\"\r\n", base);
}
