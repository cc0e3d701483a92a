import { passphraseProblem } from './keyring.ts'

/**
 * The number of guesses that a passphrase must cost a thief of the sealed key, as a power of ten. A guess takes about
 * 0.3 s of a core and 64 MiB (`defaultPassphraseCost`), so 10^11 guesses take one core a thousand years.
 */
const guessesLog10Min = 11

/**
 * The number of characters that are judged. Further characters are ignored, because the work grows faster than the
 * length.
 */
const judgedCharacters = 100

interface Judge {
  check(passphrase: string, about: string[]): { guessesLog10: number; feedback: { warning: string | null } }
}

let judge: Promise<Judge> | undefined

/** Loads megabytes of words and names. They are loaded when a passphrase is chosen, and never to open a key. */
async function loadJudge(): Promise<Judge> {
  const [{ ZxcvbnFactory }, common, english] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
    import('@zxcvbn-ts/language-en'),
  ])
  return new ZxcvbnFactory({
    dictionary: { ...common.dictionary, ...english.dictionary },
    graphs: common.adjacencyGraphs,
    translations: english.translations,
    maxLength: judgedCharacters,
  })
}

/**
 * Says why a passphrase would be guessed too soon, in words for the person; null if it is strong enough. Beyond
 * `passphraseProblem` it knows common passwords, words, names, dates and rows of the keyboard.
 *
 * @param about texts that an attacker would try first: the person's address and name.
 * @example await judgePassphrase('P@ssw0rd1234') // 'this is similar to a commonly used password'
 */
export async function judgePassphrase(passphrase: string, about: string[] = []): Promise<string | null> {
  const problem = passphraseProblem(passphrase)
  if (problem !== null) return problem
  judge ??= loadJudge().catch((error) => {
    judge = undefined
    throw error
  })
  const { guessesLog10, feedback } = (await judge).check(passphrase.normalize('NFKC').trim(), about)
  if (guessesLog10 >= guessesLog10Min) return null
  const { warning } = feedback
  if (!warning) return 'use less common words'
  return `${warning.charAt(0).toLowerCase()}${warning.slice(1)}`.replace(/\.$/, '')
}
