import { encodeBase64url } from '../../src/base64url.ts'
import { makeBranchManifest } from '../../src/directory/branch-manifest.ts'
import { makeAnswer, makeInvitation } from '../../src/directory/joining.ts'
import { formatPrintedCode } from '../../src/printed-code.ts'
import tokens from '../../vectors/tokens.json' with { type: 'json' }
import { day, ids, keyOf, kidOf, org, otherHash, type Scene, start } from '../directory-scene.ts'

// Pins, and the texts under a shared secret: invitations, their answers and branch manifests.

export const pinRows = ({ roots: [{ hash }] }: Scene) => ({
  accepted: [
    { text: hash, pin: { root: hash, leastHead: 1 } },
    { text: `${hash}@12`, pin: { root: hash, leastHead: 12 } },
  ],
  refused: [
    `${hash}@`,
    `${hash}@0`,
    `${hash}@1`,
    `${hash}@01`,
    `${hash}@9007199254740992`,
    `${hash}@2@3`,
    hash.slice(1),
    `${hash}=`,
    '',
  ],
  tokens: {
    accepted: [
      {
        text: `${tokens.derived[1]!.token}.${hash}@12.shop/production`,
        bearer: tokens.derived[1]!.bearer,
        pin: { root: hash, leastHead: 12 },
        environment: 'shop/production',
      },
      {
        text: `${tokens.derived[1]!.token}.${hash}`,
        bearer: tokens.derived[1]!.bearer,
        pin: { root: hash, leastHead: 1 },
        environment: null,
      },
    ],
    refused: [
      '',
      '.x',
      `.${hash}.`,
      `.${hash}.shop`,
      `.${hash}.shop:production`,
      `.${hash}.Shop/production`,
      `.${hash}.shop/production.x`,
      '..shop/production',
      `.${hash}@1`,
    ].map((after) => `${tokens.derived[1]!.token}${after}`),
  },
})

export async function joiningRows({ roots: [{ hash }] }: Scene) {
  const code = await formatPrintedCode(new Uint8Array(16).fill(3), 'skerry/joining/check/v1/')
  const other = await formatPrintedCode(new Uint8Array(16).fill(4), 'skerry/joining/check/v1/')
  const invitation = {
    org,
    pin: { root: hash, leastHead: 1 },
    email: 'bob@example.com',
    role: 'member',
    issuedAt: start,
  } as const
  const [text, answer] = [
    await makeInvitation(code, invitation),
    await makeAnswer(code, { email: invitation.email, kid: kidOf(2) }),
  ]
  return {
    code,
    invitation,
    text,
    answer: { email: invitation.email, kid: kidOf(2) },
    answerText: answer,
    refused: [
      { title: 'another code', code: other, text, now: start, expected: 'not_authentic' },
      {
        title: 'the answer as an invitation',
        code,
        text: answer.replace('ja1', 'ji1'),
        now: start,
        expected: 'not_authentic',
      },
      { title: 'a mistyped code', code: code.slice(0, -1), text, now: start, expected: 'malformed_code' },
      { title: 'after 7 days', code, text, now: start + 7 * day + 1, expected: 'authentic_expired' },
      {
        title: 'a changed address',
        code,
        text: (await makeInvitation(other, { ...invitation, email: 'eve@example.com' })).replace(
          /[^.]+$/,
          text.split('.')[2]!,
        ),
        now: start,
        expected: 'not_authentic',
      },
    ],
  }
}

export async function branchRows() {
  const manifest = { id: ids.shared, parent: ids.production, name: 'fix-login', key: otherHash, expiresAt: start + day }
  const text = await makeBranchManifest(keyOf(6), manifest)
  const endless = { ...manifest, expiresAt: null }
  return {
    accepted: [
      { parentKey: encodeBase64url(keyOf(6)), manifest, text },
      { parentKey: encodeBase64url(keyOf(6)), manifest: endless, text: await makeBranchManifest(keyOf(6), endless) },
    ],
    refused: [
      { title: 'another key', parentKey: encodeBase64url(keyOf(7)), text, now: start, expected: 'not_authentic' },
      {
        title: 'after its end',
        parentKey: encodeBase64url(keyOf(6)),
        text,
        now: start + day,
        expected: 'authentic_expired',
      },
    ],
  }
}
