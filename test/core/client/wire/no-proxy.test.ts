import { describe, expect, it } from 'vitest';
import { isExcepted } from '../../../../src/core/client/wire/proxy-settings.ts';
import { ignoredProxy } from '../../../../src/core/client/wire/proxy-settings.ts';

/** Whether `NO_PROXY` excepts this address. */
function excepts(list: string, address: string): boolean {
  const { host, protocol } = new URL(address);
  return isExcepted(host, protocol, list);
}

describe('NO_PROXY', () => {
  it.each([
    ['*', 'https://service.example'],
    ['a.example, *', 'http://[::1]'],
    ['service.example', 'https://service.example'],
    ['Service.Example', 'https://service.example'],
    ['service.example', 'https://eu.service.example'],
    ['.service.example', 'https://service.example'],
    ['.service.example', 'https://eu.service.example'],
    ['*.service.example', 'https://eu.service.example'],
    ['service.example.', 'https://service.example'],
    ['service.example', 'https://service.example.'],
    ['other.example service.example', 'https://service.example'],
    ['service.example:443', 'https://service.example'],
    ['service.example:8080', 'http://service.example:8080'],
    ['127.0.0.1', 'http://127.0.0.1:8899'],
    ['::1', 'http://[::1]:8899'],
    ['[::1]', 'http://[::1]:8899'],
    ['[::1]:8899', 'http://[::1]:8899'],
    ['0:0:0:0:0:0:0:1', 'http://[::1]'],
    ['10.0.0.0/8', 'http://10.1.2.3'],
    ['fd00::/8', 'http://[fd12:3456::1]'],
    ['[fd00::]/8', 'http://[fd12:3456::1]'],
    ['0.0.0.0/0', 'http://192.0.2.1'],
  ])('%s excepts %s', (list, address) => {
    expect(excepts(list, address)).toBe(true);
  });

  it.each([
    ['', 'https://service.example'],
    [' , ', 'https://service.example'],
    ['.', 'https://service.example'],
    ['service.example', 'https://myservice.example'],
    ['eu.service.example', 'https://service.example'],
    ['service.example:80', 'https://service.example'],
    ['127.0.0.1:80', 'http://127.0.0.1:8899'],
    ['[::1]:80', 'http://[::1]:8899'],
    ['0.0.1', 'http://127.0.0.1'],
    ['::1', 'http://[::2]'],
    ['10.0.0.0/8', 'http://11.0.0.1'],
    ['10.0.0.0/8', 'http://10.0.0.0.example'],
    ['10.0.0.0/33', 'http://10.0.0.1'],
    ['10.0.0.0/', 'http://10.0.0.1'],
    ['fd00::/8', 'http://10.0.0.1'],
    ['10.0.0.0/8', 'http://[fd00::1]'],
  ])('%s does not except %s', (list, address) => {
    expect(excepts(list, address)).toBe(false);
  });
});

describe('ALL_PROXY', () => {
  const address = 'https://service.example';
  const all = { ALL_PROXY: 'socks5://127.0.0.1:1080' };

  it('is named where it is ignored', () => {
    expect(ignoredProxy(address, all)).toMatch(/^ALL_PROXY is set, but calls do not use it; set HTTPS_PROXY/);
    expect(ignoredProxy(address, { all_proxy: 'http://p' })).toMatch(/^ALL_PROXY/);
    expect(ignoredProxy('http://service.example', { ...all, HTTPS_PROXY: 'http://p' })).toMatch(/^ALL_PROXY/);
  });

  it.each([
    ['it is not set', address, {}],
    ['another proxy is used', address, { ...all, https_proxy: 'http://p' }],
    ['no proxy is wanted', address, { ...all, NO_PROXY: '.example' }],
    ['the records are local', 'embedded:records.jsonl', all],
  ])('is not named where %s', (_, url, env) => {
    expect(ignoredProxy(url, env)).toBeUndefined();
  });
});
