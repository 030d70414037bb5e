"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.drifts = exports.typeOffset = exports.answerAt = void 0;
exports.beginState = beginState;
exports.addDrift = addDrift;
exports.cutDrifts = cutDrifts;
exports.hasDriftRoom = hasDriftRoom;
const slots_1 = require("../src/lib/kernel/slots");
const memory_1 = require("./memory");
/** Where the answer begins: cells count from here. */
exports.answerAt = 0;
/** Where the names of the JSON types begin among the constants of the texts that are made. */
exports.typeOffset = 0;
let driftsAt = 0;
let mostDrifts = 0;
exports.drifts = 0;
function beginState() {
    exports.answerAt = (0, memory_1.addressSlot)(slots_1.answerSlot);
    exports.typeOffset = (0, memory_1.slot)(slots_1.typesSlot);
    driftsAt = (0, memory_1.addressSlot)(slots_1.driftsSlot);
    mostDrifts = (0, memory_1.slot)(slots_1.mostDriftsSlot);
    exports.drifts = 0;
}
/** Counts what differs from the specification, by the number of its member. Where there is no room, `drifts` says how many there were. */
function addDrift(number) {
    if (exports.drifts < mostDrifts)
        store(driftsAt + (exports.drifts << 2), number);
    exports.drifts += 1;
}
function cutDrifts(count) {
    exports.drifts = count;
}
function hasDriftRoom() {
    return exports.drifts <= mostDrifts;
}
