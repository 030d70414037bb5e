import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../../../packages/practice-service/src/generated/seeded-random.ts';
import { cleanMessage, secretScrubber, serviceAddress } from '../../../../src/core/client/wire/service-address.ts';
import { retryAfterMs } from '../../../../src/core/client/wire/judge-answer.ts';
import { ExportError } from '../../../../src/lib/export-error.ts';

const scrub = secretScrubber(['s3cret/key']);

describe('cleanMessage', () => {
  it('takes terminal escapes and control characters out', () => {
    const text = '\u001b[31mred\u001b[0m \u001b]0;title\u0007a\u0000b\r\nc\u202ed\u009b2Je \u001b\u001bZf';
    expect(cleanMessage(text, scrub)).toBe('red a b cde f');
    expect(cleanMessage('\u001b]8;;http://x\u001b\\link', scrub)).toBe('link');
  });

  // Promise, Nothing leaked: The service's words are shown without the key and terminal control codes
  it('takes the key out, as it is, as it stands in an address, and in upper case', () => {
    expect(cleanMessage('no s3cret/key at /v3/s3cret%2Fkey', scrub)).toBe('no *** at /v3/***');
    expect(cleanMessage('key S3CRET/KEY, S3cret%2fKey refused', scrub)).toBe('key ***, *** refused');
    expect(cleanMessage('s3cret\u001b[0m/key s3\u200bcret/key', scrub)).toBe('*** ***');
  });

  // Promise, Nothing leaked: An echoed key is shown nowhere: upper case, base64, base64url, hexadecimal, percent-encoded twice
  it('takes the key out in every form that a service may repeat it in', () => {
    const random = new SeededRandom([1, 2, 3, 4]);
    for (let round = 0; round < 40; round += 1) {
      const key = Array.from(
        { length: 6 + random.below(30) },
        () => 'aZ09+/=%?&#:.~_-é$(['[random.below(20)] ?? '',
      ).join('');
      const hidden = secretScrubber([key]);
      const bytes = Buffer.from(key);
      const percent = bytes.toString('hex').replaceAll(/../g, '%$&');
      for (const form of [
        key,
        encodeURI(key),
        encodeURIComponent(encodeURIComponent(key)),
        percent,
        bytes.toString('hex'),
      ])
        for (const text of [form, form.toUpperCase()]) expect(hidden(`<${text}>`), text).toBe('<***>');
      for (const before of ['', 'u', 'u:', 'user:']) {
        const around = Buffer.from(`${before}${key}:x`);
        // What is left are letters that hold bits of what stands around the key.
        for (const form of [around.toString('base64'), around.toString('base64url')])
          for (const text of [form, encodeURIComponent(form), form.toUpperCase()])
            expect(hidden(`Basic ${text}`), text).toMatch(/^Basic .{0,8}\*\*\*.{0,12}$/);
      }
    }
  });

  it('takes user and password out, where the key is what Basic authentication makes of them', () => {
    const hidden = secretScrubber([Buffer.from('someone:passw0rd').toString('base64')]);
    expect(hidden('someone:passw0rd, passw0rd, c29tZW9uZTpwYXNzdzByZA==')).toBe('***, ***, ***');
  });

  it('takes the key out wherever a long text is cut', () => {
    const key = 'a-key-of-thirty-two-characters-1';
    for (let blanks = 29_960; blanks <= 30_000; blanks += 1) {
      expect(cleanMessage(`${' '.repeat(blanks)}${key}`, secretScrubber([key]))).not.toContain('a');
    }
  });

  it('keeps at most 300 characters and cuts no character in two', () => {
    expect(cleanMessage('x'.repeat(1000), scrub)).toHaveLength(300);
    const cut = cleanMessage('😀'.repeat(1000), scrub);
    expect(cut.length).toBeLessThanOrEqual(300);
    expect(cut.isWellFormed()).toBe(true);
    expect(cleanMessage(`a\ud800b`, scrub).isWellFormed()).toBe(true);
  });

  it('names an HTML page by its title', () => {
    expect(cleanMessage('<!doctype html><html><head><title>502 Bad Gateway</title></head>', scrub)).toBe(
      'an HTML page, “502 Bad Gateway”',
    );
    expect(cleanMessage('<html><body>x', scrub)).toBe('an HTML page');
  });
});

describe('retryAfterMs', () => {
  const nowMs = Date.UTC(2026, 0, 1, 12, 0, 0);
  it.each([
    ['0', 0],
    ['30', 30_000],
    ['1.5', 1500],
    ['86400', 86_400_000],
    ['Thu, 01 Jan 2026 12:00:10 GMT', 10_000],
    ['Thu, 01 Jan 2026 11:00:00 GMT', 0],
    ['-1', undefined],
    ['soon', undefined],
    ['Thursday next', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('reads %s as %s ms', (header, ms) => {
    expect(retryAfterMs(header, nowMs)).toBe(ms);
  });
});

describe('serviceAddress', () => {
  it('appends /v3 and the key to the base address', () => {
    expect(serviceAddress({ url: ' https://h.example:8443/base// ', apiKey: 'k\n' })).toMatchObject({
      origin: 'https://h.example:8443',
      path: '/base/v3/k',
    });
    expect(serviceAddress({ url: 'http://h.example', apiKey: 'a/b c?'.replace(' ', '') }).path).toBe('/v3/a%2Fbc%3F');
  });

  it.each([
    ['', /empty/],
    ['h.example', /does not start with https/],
    ['ftp://h.example/canary-key', /does not start with https/],
    ['https://h.exa mple/canary-key', /not a valid address/],
    ['https://user:canary-key@h.example', /user name or password/],
    ['https://h.example/?key=canary-key', /contains \? or #/],
    ['https://h.example/v3/canary-key', /already holds \/v3/],
    ['https://h.example/v3/', /already holds \/v3/],
  ])('refuses the base address %j without repeating it', (url, why) => {
    const refuse = (): unknown => serviceAddress({ url, apiKey: 'canary-key' });
    expect(refuse).toThrow(ExportError);
    expect(refuse).toThrow(why);
    try {
      refuse();
    } catch (error) {
      expect(error).toMatchObject({ exit: 'usage' });
      expect(JSON.stringify(error) + String(error) + ((error as ExportError).todo ?? '')).not.toContain('canary-key');
    }
  });

  it.each(['', '  ', 'a b', 'a\nb', 'a\u0000b'])('refuses the key %j', (apiKey) => {
    expect(() => serviceAddress({ url: 'https://h.example', apiKey })).toThrow(/API key/);
  });
});
