/** True in `npm test`. False in `npm run test:all`, and when someone runs a suite by its name. */
export const isQuick = process.env.SKERRY_TESTS === 'quick'
