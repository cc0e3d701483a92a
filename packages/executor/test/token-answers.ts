/** The answer of a provider to a token request: the status, and the body as it is on the wire. */
export interface TokenAnswer {
  status: number
  body: object | string
  type?: string
}

/** The answer of each provider to a refresh token that is revoked, replaced or expired, as in its documentation. */
export const refusals: Readonly<Record<string, TokenAnswer>> = {
  GitHub: {
    status: 200,
    body: {
      error: 'bad_refresh_token',
      error_description: 'The refresh token passed is incorrect or expired.',
      error_uri:
        'https://docs.github.com/apps/managing-oauth-apps/troubleshooting-oauth-app-access-token-request-errors',
    },
  },
  'GitHub, as a form': {
    status: 200,
    type: 'application/x-www-form-urlencoded; charset=utf-8',
    body: 'error=bad_refresh_token&error_description=The+refresh+token+passed+is+incorrect+or+expired.',
  },
  Google: {
    status: 400,
    body: { error: 'invalid_grant', error_description: 'Token has been expired or revoked.' },
  },
  Slack: { status: 200, body: { ok: false, error: 'invalid_refresh_token' } },
  'Slack, of a token that was revoked': { status: 200, body: { ok: false, error: 'token_revoked' } },
  'Slack, of a token that has expired': { status: 200, body: { ok: false, error: 'token_expired' } },
  'an OpenID provider that wants a sign-in': { status: 400, body: { error: 'login_required' } },
  'an OpenID provider that wants consent': { status: 400, body: { error: 'consent_required' } },
  'Salesforce, of an organization that was locked': {
    status: 400,
    body: { error: 'inactive_org', error_description: 'organization is inactive' },
  },
  'Slack, of a user who was deactivated': { status: 200, body: { ok: false, error: 'account_inactive' } },
  Microsoft: {
    status: 400,
    body: {
      error: 'invalid_grant',
      error_description:
        'AADSTS700082: The refresh token has expired due to inactivity. The token was issued on 2026-08-01T08:00:00.0000000Z and was inactive for 90.00:00:00.',
      error_codes: [700082],
      timestamp: '2026-11-26 08:00:00Z',
      trace_id: '00000000-0000-0000-0000-000000000001',
      correlation_id: '00000000-0000-0000-0000-000000000002',
      error_uri: 'https://login.microsoftonline.com/error?code=700082',
    },
  },
  'Microsoft, where a second factor is due': {
    status: 400,
    body: { error: 'interaction_required', error_codes: [50076], suberror: 'basic_action' },
  },
  Salesforce: { status: 400, body: { error: 'invalid_grant', error_description: 'expired access/refresh token' } },
  'Salesforce, of a user who was deactivated': {
    status: 400,
    body: { error: 'inactive_user', error_description: 'user is inactive' },
  },
  Notion: {
    status: 400,
    body: { error: 'invalid_grant', error_description: 'Invalid refresh token.', request_id: '0b1c' },
  },
  'Notion, in the form of its API': {
    status: 400,
    body: { object: 'error', status: 400, code: 'invalid_grant', message: 'Invalid refresh token.' },
  },
}

/** Refusals that no person can repair: the client of the executor is wrong, or the provider requests a pause. */
export const faults: Readonly<Record<string, TokenAnswer & { told: string }>> = {
  'GitHub, a wrong client secret': {
    status: 200,
    body: { error: 'incorrect_client_credentials', error_description: 'The client_id is incorrect.' },
    told: 'incorrect_client_credentials',
  },
  'Google, a wrong client secret': {
    status: 401,
    body: { error: 'invalid_client', error_description: 'The provided client secret is invalid.' },
    told: 'invalid_client',
  },
  'Slack, a rate limit': { status: 429, body: { ok: false, error: 'ratelimited' }, told: 'ratelimited' },
  'a page of a proxy': { status: 403, type: 'text/html', body: '<html>Forbidden</html>', told: 'HTTP 403' },
  'words that no log may hold': { status: 400, body: { error: 'token sk-1 is\nwrong' }, told: 'refused' },
}

/** Answers with a token, in forms that differ from RFC 6749 -> the refresh token and lifetime that are stored. */
export const tokens: Readonly<
  Record<
    string,
    { body: object | string; type?: string; keeps: { refreshToken: string; lifetimeSeconds: number | null } }
  >
> = {
  'Slack, whose token_type is bot': {
    body: { ok: true, access_token: 'new', token_type: 'bot', refresh_token: 'next', expires_in: 43200, scope: 'a,b' },
    keeps: { refreshToken: 'next', lifetimeSeconds: 12 * 3600 },
  },
  'Salesforce, without expires_in': {
    body: { access_token: 'new', token_type: 'Bearer', issued_at: '1764150000000', signature: 'c2ln' },
    keeps: { refreshToken: 'first', lifetimeSeconds: null },
  },
  'Notion, with null': {
    body: { access_token: 'new', token_type: 'bearer', refresh_token: null, expires_in: null, bot_id: 'b' },
    keeps: { refreshToken: 'first', lifetimeSeconds: null },
  },
  'one without token_type, and with empty members': {
    body: { access_token: 'new', refresh_token: '', expires_in: '', scope: null },
    keeps: { refreshToken: 'first', lifetimeSeconds: null },
  },
  'one with numbers as text and a list of scopes': {
    body: { access_token: 'new', refresh_token: 'next', expires_in: '43200', scope: ['a'] },
    keeps: { refreshToken: 'next', lifetimeSeconds: 12 * 3600 },
  },
  'one with an id token that nobody can verify': {
    body: { access_token: 'new', token_type: 'Bearer', refresh_token: 'next', id_token: 'a.b.c' },
    keeps: { refreshToken: 'next', lifetimeSeconds: null },
  },
  'GitHub, as a form': {
    type: 'application/x-www-form-urlencoded',
    body: 'access_token=new&expires_in=43200&refresh_token=next&refresh_token_expires_in=15897600&token_type=bearer',
    keeps: { refreshToken: 'next', lifetimeSeconds: 12 * 3600 },
  },
}
