import MiniSearch, { type SearchResult } from 'minisearch'
import { type Entry, indexOptions } from './index-options.ts'

const shownResults = 12

/** Puts the search field and its results into a place of the page. The index is loaded with the first use. */
export function openSearch(place: HTMLElement): void {
  const root = place.dataset.root ?? './'
  const field = Object.assign(document.createElement('input'), {
    type: 'search',
    placeholder: 'Search',
    autocomplete: 'off',
    ariaLabel: 'Search the documentation. Press / to start.',
  })
  const list = Object.assign(document.createElement('ul'), {
    hidden: true,
    className: 'results',
    ariaLabel: 'Results',
  })
  place.append(field, list)
  let loading: Promise<MiniSearch<Entry>> | undefined
  const load = () => {
    loading ??= loadIndex(root)
    // The next use tries again.
    loading.catch(() => {
      loading = undefined
    })
    return loading
  }
  const update = async () => {
    const query = field.value.trim()
    if (query === '') return show(list, [])
    const index = await load().catch(() => null)
    // The person may have typed on while the index was loading.
    if (query !== field.value.trim()) return
    show(list, index ? resultsFor(index, query, root) : [note('The search index cannot be loaded. Try again.')])
  }
  field.addEventListener('focus', () => void load())
  field.addEventListener('input', () => void update())
  place.addEventListener('keydown', (event) => move(event, field, list))
  place.addEventListener('focusout', ({ relatedTarget }) => {
    if (!place.contains(relatedTarget as Node | null)) list.hidden = true
  })
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.target instanceof HTMLInputElement) return
    event.preventDefault()
    field.focus()
  })
}

async function loadIndex(root: string): Promise<MiniSearch<Entry>> {
  const answer = await fetch(`${root}search.json`)
  if (!answer.ok) throw new Error(`search.json: ${answer.status}`)
  return MiniSearch.loadJSON<Entry>(await answer.text(), indexOptions)
}

function resultsFor(index: MiniSearch<Entry>, query: string, root: string): HTMLElement[] {
  const found = index.search(query)
  if (found.length === 0) return [note('Nothing found.')]
  // Whoever types the name of a setting or an endpoint wants its own section, and not a task that uses it.
  const isNamed = ({ heading }: SearchResult) => heading.toLowerCase() === query.toLowerCase()
  const ordered = [...found.filter(isNamed), ...found.filter((one) => !isNamed(one))]
  // A task and the section that it leads to have one address, and need one row.
  const addresses = new Set<string>()
  const distinct = ordered.filter(({ url }) => addresses.size < addresses.add(url).size)
  return distinct.slice(0, shownResults).map((result) => resultOf(result, root))
}

function resultOf({ title, heading, url }: SearchResult, root: string): HTMLElement {
  const link = Object.assign(document.createElement('a'), { href: `${root}${url}`, className: 'hit' })
  const name = Object.assign(document.createElement('b'), { textContent: heading })
  const page = Object.assign(document.createElement('small'), { textContent: title })
  link.append(name, page)
  const item = note('')
  item.append(link)
  return item
}

const note = (text: string): HTMLElement =>
  Object.assign(document.createElement('li'), { textContent: text, className: 'result' })

function show(list: HTMLElement, items: HTMLElement[]): void {
  list.replaceChildren(...items)
  list.hidden = items.length === 0
}

/** Arrow keys move between the field and the results, Enter opens the first one, and Escape closes the list. */
function move(event: KeyboardEvent, field: HTMLInputElement, list: HTMLElement): void {
  const links = [...list.querySelectorAll('a')]
  const stops = [field, ...links]
  const at = stops.indexOf(document.activeElement as HTMLInputElement)
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (step !== undefined && !list.hidden) stops[(at + step + stops.length) % stops.length]?.focus()
  else if (event.key === 'Escape') list.hidden = true
  else if (event.key === 'Enter' && at === 0) links[0]?.click()
  else return
  event.preventDefault()
}
