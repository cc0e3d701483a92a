import { writeLine } from '../output.ts'
import { pageAddress } from './page-address.ts'
import { type Task, tasks } from './tasks.ts'

/**
 * Prints how to do what the words describe: `skerry help rotate a database password`. Without a fitting task it prints
 * all titles.
 */
export function printTask(words: readonly string[]): void {
  const [best, ...others] = tasksFor(words)
  if (!best) {
    printTitles(words)
    return
  }
  writeLine(best.title)
  for (const [line, what] of best.steps) {
    writeLine('')
    writeLine(`  # ${what}`)
    writeLine(`  ${line}`)
  }
  writeLine('')
  writeLine(`Read more at ${pageAddress(best.document)}`)
  if (others.length > 0) writeLine(`See also: ${others.map(({ title }) => title).join('; ')}.`)
}

function printTitles(words: readonly string[]): void {
  writeLine(`No task fits "${words.join(' ')}". \`skerry help <words>\` knows these:`)
  writeLine('')
  for (const { title } of tasks) writeLine(`  ${title}`)
}

/** The three tasks that share most words with the question, best first. A word of the title counts twice. */
export function tasksFor(words: readonly string[]): Task[] {
  const asked = stems(words.join(' ')).filter((word) => !stopWords.has(word))
  const scored = tasks.map((task) => ({ task, score: scoreOf(task, asked) })).filter(({ score }) => score > 0)
  return scored
    .sort((a, b) => b.score - a.score)
    .slice(0, 3)
    .map(({ task }) => task)
}

function scoreOf({ title, words }: Task, asked: readonly string[]): number {
  const [inTitle, inWords] = [new Set(stems(title)), new Set(stems(words))]
  const found = asked.map((word) => (inTitle.has(word) ? 2 : inWords.has(word) ? 1 : 0))
  return found.reduce((sum: number, one) => sum + one, 0)
}

/** Lowercase words without their endings, so that `rotating passwords` finds `rotate a password`. `back up` is `backup`. */
const stems = (text: string): string[] =>
  (
    text
      .toLowerCase()
      .replaceAll('back up', 'backup')
      .match(/[a-z0-9.]+/g) ?? []
  ).map((word) => word.replace(/(?:ies|ing|ed|es|s|e|y)$/, '') || word)

const stopWords = new Set(stems('a an and the to of in on for from with my our your how do i we it is can use using'))
