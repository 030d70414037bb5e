/** Proxies to reach the service through; see `proxyFromEnvironment`. */
export interface ProxySettings {
  readonly http: string;
  readonly https: string;
  /** Hosts to reach directly, as in `NO_PROXY`. */
  readonly except: string;
}

/** `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`, small letters first as in curl; undefined when no proxy is named. */
export function proxyFromEnvironment(env: Readonly<Record<string, string | undefined>>): ProxySettings | undefined {
  const read = (name: string): string => env[name] ?? env[name.toUpperCase()] ?? '';
  const settings = { http: read('http_proxy'), https: read('https_proxy'), except: read('no_proxy') };
  return settings.http === '' && settings.https === '' ? undefined : settings;
}
