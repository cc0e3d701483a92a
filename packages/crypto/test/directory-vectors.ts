import { encodeBase64url } from '../src/base64url.ts'
import { type DirectorySigner, signerOfPerson, signerOfRescueCode, signerOfToken } from '../src/directory/signing.ts'
import { importPrivateKey } from '../src/keys.ts'
import { formatPrintedCode } from '../src/printed-code.ts'
import keyring from '../vectors/keyring.json' with { type: 'json' }
import published from '../vectors/published.json' with { type: 'json' }
import tokens from '../vectors/tokens.json' with { type: 'json' }
import { makeScene } from './directory-scene.ts'
import { answerRows } from './directory-vectors/answers.ts'
import { branchRows, joiningRows, pinRows } from './directory-vectors/codes.ts'
import { commitmentRows, entryRows, treeRows } from './directory-vectors/entries.ts'
import { headRows } from './directory-vectors/heads.ts'
import { rootRows, stepRows } from './directory-vectors/roots.ts'

// Makes vectors/directory.json. Every byte is fixed, so that a change of a format changes the file and fails a test.

const jwkText = ({ jwk }: DirectorySigner) => JSON.stringify(jwk)

export async function makeDirectoryVectors(): Promise<object> {
  const scene = await makeScene()
  return {
    about:
      'The signed directory, as docs/directory-format.md describes it. Times are Unix seconds; keys, hashes and codes are base64url unless they say otherwise. A refused row carries the code of the refusal. These rows may never change.',
    canonicalJson: canonicalRows(),
    signingKeys: await signingKeyRows(),
    roots: await rootRows(scene),
    steps: await stepRows(scene),
    heads: await headRows(scene),
    entries: await entryRows(),
    trees: await treeRows(),
    answers: await answerRows(scene),
    commitments: await commitmentRows(),
    pins: pinRows(scene),
    joining: await joiningRows(scene),
    branchManifests: await branchRows(),
  }
}

const canonicalRows = () => ({
  accepted: [
    '{"a":1,"b":[true,null,"é"]}',
    '[0,-1,1e+21,0.000001,1e-7]',
    '{"\\r":1,"1":2,"\u{1f600}":3,"\ufb33":4}',
    '"\\u000f\\n/"',
  ],
  refused: [
    '{"b":1,"a":2}',
    '{"a":1,"a":1}',
    '{"a":1, "b":2}',
    '[1.0]',
    '[-0]',
    '[1E3]',
    '[9007199254740993]',
    '[1e400]',
    '"\\u0041"',
    '"\\/"',
    '"\\ud800"',
    '{"\ufb33":4,"\u{1f600}":3}',
    '[1]\n',
    '',
  ],
})

async function signingKeyRows() {
  const person = await importPrivateKey(new Uint8Array(Buffer.from(keyring.pkcs8, 'base64url')), { extractable: true })
  const row = (signer: DirectorySigner) => ({ publicKeyJwk: jwkText(signer), kid: signer.kid })
  const codes = [new Uint8Array(16), Uint8Array.from({ length: 16 }, (_, at) => at * 17)]
  return {
    persons: [{ pkcs8: keyring.pkcs8, ...row(await signerOfPerson(person)) }],
    tokens: await Promise.all(tokens.derived.map(async ({ token }) => ({ token, ...row(await signerOfToken(token)) }))),
    rescueCodes: await Promise.all(
      codes.map(async (secret) => {
        const code = await formatPrintedCode(secret, 'skerry/rescue-key/check/v1/')
        return { code, secret: encodeBase64url(secret), ...row(await signerOfRescueCode(code)) }
      }),
    ),
    refusedCodes: ['0000-0000-0000-0000-0000-0000-0000', keyring.kitCodes.accepted[0]!.code, ''],
    refusedTokens: [published.token.token],
  }
}
